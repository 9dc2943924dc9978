#include "pipeline/api/count_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include <brigade/text.h>
#include "pipeline/api/load_and_plan.h"
#include "tests/support/session.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

/// A folder of 3 + 2 images, which nobody decodes here.
struct CountedSources : testing::Test {
  TemporaryFolder folder;
  std::string index = folder.path() / "images.index";
  Session session;

  CountedSources() {
    for (const char* const name : {"cat/1.jpg", "cat/2.jpg", "cat/3.jpg", "dog/1.jpg", "dog/2.jpg"})
      folder.write(concat("images/", name), "");
  }

  std::string producer(const std::string& more = "") {
    return concat("{producer: image_folder, params: {root: ", (folder.path() / "images").string(),
                  more, "}}");
  }
  PlannedGraph planned(const std::string& stages, bool count) {
    GraphFiles files{{folder.write("graph.yaml", concat("stages:\n", stages))}, {}, {}};
    files.count = count;
    return plan_files(files, session.types);
  }
  PlannedGraph planned_reader(bool count, const std::string& more = "") {
    return planned(concat("  files: ", producer(more),
                          "\n  end: {consumer: count, from: {stage: files, batch: 2}}\n"),
                   count);
  }
};

TEST_F(CountedSources, AreThoseThatDoNotTell) {
  const PlannedGraph unknown = planned_reader(false);
  ASSERT_TRUE(unknown.plan) << unknown.messages;
  EXPECT_EQ(unknown.consumers.front(),
            (ConsumerEpoch{"end", "files", {}, {}, "stage \"files\" has not been counted"}));
  const PlannedGraph known = planned_reader(true);
  EXPECT_EQ(known.consumers.front(), (ConsumerEpoch{"end", "files", 5, 3}));
  EXPECT_EQ(known.sources.front().gives, 5u);
}

TEST_F(CountedSources, KeepTheirIndexForTheRun) {
  for (const char* const name : {"images/cat", "images/dog", "images"})  // else it is made again
    std::filesystem::last_write_time(
        folder.path() / name,
        std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  planned_reader(true, concat(", index: ", index));
  ASSERT_TRUE(std::filesystem::exists(index));
  const auto made = std::filesystem::last_write_time(index);
  planned_reader(true, concat(", index: ", index));
  EXPECT_EQ(std::filesystem::last_write_time(index), made);
}

TEST_F(CountedSources, SayWhyTheyCouldNotBe) {
  folder.write("list.csv", concat("path,label\n", std::string(70000, 'a'), ",0\n\"open"));
  const PlannedGraph broken = planned(
      concat(
          "  files: {producer: image_list, params: {file: ", (folder.path() / "list.csv").string(),
          "}}\n  end: {consumer: count, from: {stage: files, batch: 2}}\n"),
      true);
  ASSERT_TRUE(broken.plan) << broken.messages;
  EXPECT_EQ(broken.consumers.front().samples, std::nullopt);
  EXPECT_THAT(broken.consumers.front().unknown, testing::HasSubstr("list.csv"));
}

TEST_F(CountedSources, GiveCachesTheirRoomWithoutBeingAsked) {
  const PlannedGraph kept = planned(concat("  files: ", producer(),
                                           "\n  kept: {transform: cache, from: files}\n"
                                           "  end: {consumer: count, from: kept}\n"),
                                    false);
  ASSERT_TRUE(kept.plan) << kept.messages << kept.problems.render(kept.loaded.source);
  EXPECT_EQ(kept.plan->stages[StageNumber(1)].cache.slots, 5u);
}

TEST_F(CountedSources, AreCountedInMixtures) {
  const PlannedGraph mixed =
      planned(concat("  a: ", producer(), "\n  b: ", producer(),
                     "\n  mixed: {mix: {a: 1, b: 1}}\n"
                     "  end: {consumer: count, from: {stage: mixed, batch: 4}}\n"),
              true);
  ASSERT_TRUE(mixed.plan) << mixed.messages;
  EXPECT_EQ(mixed.consumers.front(), (ConsumerEpoch{"end", "mixed", 10, 3}));
}

}  // namespace
}  // namespace brigade
