#include "pipeline/cli/templates/train_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.h"

namespace brigade {
namespace {

using testing::HasSubstr;

FoundData pets() {
  FoundData data;
  data.kind = FoundData::Kind::classes;
  data.classes = {"cat", "dog", "emu"};
  return data;
}

// python.train_script runs it.
TEST(TrainScript, IsAProgramInPython) {
  expect_golden("process/init_train.py", train_script("pets.yaml", pets()));
}

TEST(TrainScript, HasTheChannelsAndClassesOfTheData) {
  FoundData data;
  data.kind = FoundData::Kind::idx;
  data.class_count = 10;
  const std::string text = train_script("digits.yaml", data);
  EXPECT_THAT(text, HasSubstr("\nCLASSES = 10\n"));
  EXPECT_THAT(text, HasSubstr("*block(1, 16)"));
}

TEST(TrainScript, TakesNothingInNamesForPython) {
  FoundData data = pets();
  data.classes = {"a\nimport evil", "caf\xE9"};
  EXPECT_THAT(train_script("g.yaml", data), HasSubstr("\nCLASSES = 2\n")) << "is not UTF-8";
  data.classes.back() = "dog";
  EXPECT_THAT(train_script("g.yaml", data),
              HasSubstr("\nCLASSES = 2  # \"a\\nimport evil\", dog\n"));
  const std::string text = train_script("\"\"\"\\ + evil().yaml", data);
  EXPECT_THAT(text, HasSubstr(R"(GRAPH = HERE / "\"\"\"\\ + evil().yaml"  #)"));
  EXPECT_THAT(text, HasSubstr(R"(images of "\"\"\"\\ + evil().yaml", and)"));
}

}  // namespace
}  // namespace brigade
