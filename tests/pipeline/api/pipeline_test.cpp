#include <brigade/pipeline.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include <nlohmann/json.hpp>

#include "tests/support/faulty_stages.h"
#include "tests/support/message_of.h"
#include "tests/support/session.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::HasSubstr;

struct Embedding : testing::Test {
  TemporaryFolder folder;
  char name[8] = "program";
  char* arguments[1] = {name};
  App app{1, arguments, faulty_stage_types()};

  Result<Pipeline> read(const std::string& yaml) {
    auto pipeline = Pipeline::from_file(folder.write("graph.yaml", yaml));
    if (pipeline) pipeline->quiet();
    return pipeline;
  }
};

TEST_F(Embedding, AGraphRunsFromItsFile) {
  auto run = read(line_yaml("consumer: count"))->start(app);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_TRUE((*run)->wait().ok());
  EXPECT_TRUE((*run)->wait().ok());  // as often as one likes
  EXPECT_EQ(nlohmann::json::parse(*(*run)->summary_json())["samples"], 1000);
}

TEST_F(Embedding, WhatTheCommandLineCanSetCanBeSet) {
  auto run = read(line_yaml("consumer: count"))->set("epochs=2").limit(10).in_process().start(app);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(nlohmann::json::parse(*(*run)->summary_json())["samples"], 20);
}

TEST_F(Embedding, WaitSaysWhyARunFailed) {
  auto run = read(line_yaml("consumer: faulty, params: {process: crash}"))->start(app);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_THAT(message_of((*run)->wait()), HasSubstr("stage \"end\" replica 0"));
}

TEST_F(Embedding, MistakesAreTheErrorOfStart) {
  EXPECT_THAT(message_of(read(line_yaml("consumer: cuont"))->start(app)),
              HasSubstr("did you mean \"count\"?"));
}

TEST_F(Embedding, AFileThatCannotBeReadIsTheErrorOfFromFile) {
  EXPECT_THAT(Pipeline::from_file("/nowhere.yaml").error().message, HasSubstr("/nowhere.yaml"));
}

TEST_F(Embedding, AGraphCanBeTextInHand) {
  Pipeline pipeline = Pipeline::from_text(line_yaml("consumer: count"), "mine");
  pipeline.add_text("epochs: 2", "more").limit(10).quiet();
  auto run = pipeline.start(app);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(nlohmann::json::parse(*(*run)->summary_json())["samples"], 20);
  EXPECT_EQ(nlohmann::json::parse(*pipeline.plan_json(app))["epochs"], 2);
  EXPECT_TRUE(pipeline.check(app).empty());
}

TEST_F(Embedding, ATextLiesOverFilesAndIsRelativeToTheWorkingDirectory) {
  auto pipeline = read(line_yaml("consumer: count"));
  pipeline->add_text("stages:\n  end: {plugin: nowhere/mine.so}\n", "more");
  const auto found = pipeline->check(app);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].file, "more");
  EXPECT_THAT(found[0].message, HasSubstr(std::filesystem::current_path().string() + "/nowhere"));
}

TEST_F(Embedding, EveryMistakeIsAnEntryWithItsPlace) {
  const Pipeline pipeline = Pipeline::from_text(line_yaml("consumer: cuont"), "mine");
  const auto found = pipeline.check(app);
  ASSERT_EQ(found.size(), 1u) << pipeline.start(app).error().message;
  EXPECT_TRUE(found[0].is_error);
  EXPECT_EQ(found[0].file, "mine");
  EXPECT_EQ(found[0].line, 3);
  EXPECT_EQ(found[0].column, 34);
  EXPECT_EQ(found[0].source, "  end: {from: numbers, consumer: cuont}");
  EXPECT_THAT(found[0].message, HasSubstr("unknown consumer \"cuont\""));
  EXPECT_THAT(found[0].help, HasSubstr("did you mean \"count\"?"));
  EXPECT_THAT(pipeline.plan_json(app).error().message, HasSubstr("mine:3:34: error: "));
}

TEST_F(Embedding, WhatPlanningFindsIsAnEntryToo) {
  const auto found = read("memory: 1KiB\n" + line_yaml("consumer: count"))->check(app);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].line, 1);
}

TEST_F(Embedding, ACheckpointIsReplacedOnlyWhenAsked) {
  auto pipeline = read("checkpoint: {file: model.ckpt}\n" + line_yaml("consumer: count"));
  pipeline->in_process();
  ASSERT_TRUE((*pipeline->start(app))->wait().ok());
  EXPECT_THAT(pipeline->start(app).error().message, HasSubstr("is not overwritten"));
  ASSERT_TRUE((*pipeline->overwrite().start(app))->wait().ok());
  EXPECT_TRUE(pipeline->overwrite(false).resume().start(app).ok());
}

TEST_F(Embedding, ARunThatIsDestroyedEnds) {
  auto run = read(line_yaml("consumer: faulty, params: {open: hang}"))->start(app);
  ASSERT_TRUE(run.ok()) << run.error().message;
}

}  // namespace
}  // namespace brigade
