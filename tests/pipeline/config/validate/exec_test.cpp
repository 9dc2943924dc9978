#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/config/fake_types.h"
#include "tests/support/config/load_text.h"

namespace brigade {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

LoadedGraph load_exec(const std::string& keys, const std::string& command = "[./run, -v]") {
  LoadText load;
  load.metadata.file("/graphs/run", "");
  return load(with_stages("  a:\n    exec: " + command + "\n" + keys +
                          "  show: {consumer: count, from: images}\n"));
}

std::string messages_of_exec(const std::string& keys, const std::string& command = "[./run, -v]") {
  return load_exec(keys, command).messages();
}

TEST(ValidateExec, KnowsWhatItIsByItsKeys) {
  const auto consumer = load_exec("    from: images\n");
  ASSERT_TRUE(consumer.graph) << consumer.messages();
  const ValidStage& stage = consumer.graph->stages[1];
  EXPECT_EQ(stage.kind, StageKind::consumer);
  EXPECT_THAT(stage.exec, ElementsAre("/graphs/run", "-v"));
  EXPECT_EQ(stage.exec_folder, "/graphs");
}

TEST(ValidateExec, SaysWhatIsWrongWithTheProgram) {
  EXPECT_THAT(messages_of_exec("    from: images\n", "[./other]"),
              HasSubstr("there is no program /graphs/other"));
  EXPECT_THAT(messages_of_exec("    from: images\n", "run"),
              HasSubstr("/graphs/run is there: write `./run`"));
  EXPECT_THAT(messages_of_exec("    from: images\n", "[[a], b]"), HasSubstr("each is a text"));
  EXPECT_THAT(messages_of_exec("    from: images\n    transform: passthrough\n"),
              HasSubstr("says both `exec:` and `transform:`"));
}

TEST(ValidateExec, ASourceSaysHowManySamplesAndWhatItWrites) {
  EXPECT_THAT(messages_of_exec("    tensors: {y: {dtype: f32, shape: [3]}}\n"),
              HasSubstr("does not say how many samples"));
  EXPECT_THAT(messages_of_exec("    count: 4\n"),
              HasSubstr("does not say what the program writes"));
}

TEST(ValidateExec, CountIsForPrograms) {
  EXPECT_THAT(messages_of("stages:\n  a: {producer: synthetic, count: 4}\n"
                          "  show: {consumer: count, from: a}\n"),
              HasSubstr("`count:` is for `exec:`"));
}

}  // namespace
}  // namespace brigade
