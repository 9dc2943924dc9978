#include "pipeline/cli/commands/count_classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <brigade/text.h>
#include "pipeline/api/load_and_plan.h"
#include "stages/builtin.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct CountClasses : testing::Test {
  TemporaryFolder folder;
  StageTypes types = builtin_stage_types();

  Result<CountedClasses> of_producer(const std::string& producer) {
    GraphFiles graph;
    graph.texts.push_back(
        {"graph",
         concat("stages:\n  source: {", producer, "}\n  end: {consumer: count, from: source}\n"),
         folder.path().string()});
    const PlannedGraph planned = plan_files(graph, types);
    EXPECT_TRUE(planned.plan) << planned.messages;
    return count_classes(*planned.plan, types);
  }
  Result<CountedClasses> of_table(const std::string& labels, const std::string& more = "") {
    std::string text = "path,label\n";
    for (const std::string_view label : split(labels, ' ')) text += concat("a.jpg,", label, "\n");
    folder.write("list.csv", text);
    return of_producer(concat("producer: image_list, params: {file: list.csv", more, "}"));
  }
};

TEST_F(CountClasses, CountsToTheLargestNumber) {
  const auto numbers = of_table("3 0 3 1");
  ASSERT_TRUE(numbers.ok()) << numbers.error().message;
  EXPECT_EQ(numbers->count, 4u);
  EXPECT_EQ(numbers->samples, 4u);
  EXPECT_THAT(numbers->names, IsEmpty());
}

TEST_F(CountClasses, KnowsTheNamesOfClasses) {
  const auto names = of_table("dog cat dog", ", labels: names");
  ASSERT_TRUE(names.ok()) << names.error().message;
  EXPECT_EQ(names->count, 2u);
  EXPECT_EQ(names->samples, 3u);
  EXPECT_THAT(names->names, ElementsAre("cat", "dog"));
}

TEST_F(CountClasses, PassesOverWhatCannotBeRead) {
  EXPECT_EQ(of_table("x 2").value().count, 3u);
  EXPECT_THAT(of_table("x y").error().message, HasSubstr("expected a whole number, found \"x\""));
}

TEST_F(CountClasses, SaysWhatAreNoClasses) {
  EXPECT_EQ(of_table("1 -1").error().message,
            "expected class numbers from 0 to 999,999, found the label -1");
  EXPECT_THAT(of_table("1 1000000").error().message, HasSubstr("found the label 1000000"));
  EXPECT_EQ(of_producer("producer: synthetic, params: {count: 3}").error().message,
            "the tensor `label` must be a u8 or i64 scalar with `fill: index`");
}

}  // namespace
}  // namespace brigade
