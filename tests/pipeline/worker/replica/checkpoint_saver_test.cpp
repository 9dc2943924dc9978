#include "pipeline/worker/replica/checkpoint_saver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include <brigade/text.h>
#include "base/shared_path.h"
#include "pipeline/state/checkpoint_files.h"
#include "tests/support/message_of.h"
#include "tests/support/number_line.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

class SavingStage final : public Stage {
 public:
  Result<Next> process(const Inputs&, Outputs&) override { return Next::emit; }
  Result<std::string> save() override {
    ++saves;
    if (!error.empty()) return Error{error};
    return concat("state ", saves);
  }
  int saves = 0;
  std::string error;
};

/// The sink of a line of 100 samples in 2 epochs; what it has consumed is said by hand.
class CheckpointSaverTest : public testing::Test {
 protected:
  void every(std::uint64_t samples, std::int64_t ns) {
    support::NumberLine line;
    line.samples = 100;
    line.batch = 64;
    graph_.emplace(support::number_graph(line));
    run_.emplace(*graph_, [&](Plan& plan) {
      plan.checkpoint_samples = samples;
      plan.checkpoint_ns = ns;
      for (PlanStage& stage : plan.stages) {
        if (stage.kind != StageKind::consumer) continue;
        stage.saves = true;
        stage.saved_file = (folder_.path() / "state").string();
        stage.position_file = stage.saved_file + ".position";
      }
    });
    set_end(run_->control(), 0, 100, 128, 2);
  }
  void consumed(std::uint64_t samples, std::uint64_t level, std::uint64_t told = 0) {
    run_->context("sink").counters().samples.store(samples);
    run_->queue("sink").watermark->level.value.store(level);
    run_->context("sink").replica_words().ended.value.store(told);
  }
  std::string saved() {
    const std::string& file = run_->stage("sink").saved_file;
    return std::filesystem::exists(file) ? *read_whole_file(file) : "";
  }
  SamplePosition position() {
    const PlanStage& sink = run_->stage("sink");
    return read_checkpoint(sink.saved_file, sink.position_file)->entries.at(0).queues.at(0);
  }
  CheckpointSaver checkpoints() { return CheckpointSaver(run_->context("sink"), stage_); }

  TemporaryFolder folder_;
  std::optional<GraphBuilder> graph_;
  std::optional<support::RunLine> run_;
  SavingStage stage_;
};

TEST_F(CheckpointSaverTest, AtTheEndsOfEpochsUnlessSomethingElseIsAsked) {
  every(0, 0);
  CheckpointSaver checkpoints = this->checkpoints();
  consumed(64, 64);
  ASSERT_TRUE(checkpoints.look().ok());
  EXPECT_EQ(stage_.saves, 0);
  consumed(100, 128, 1);
  ASSERT_TRUE(checkpoints.look().ok());
  ASSERT_TRUE(checkpoints.look().ok());
  EXPECT_EQ(saved(), "state 1");
  EXPECT_EQ(position(), (SamplePosition{1, 0}));
}

TEST_F(CheckpointSaverTest, AfterSoManySamples) {
  every(150, 0);
  CheckpointSaver checkpoints = this->checkpoints();
  consumed(100, 128, 1);
  ASSERT_TRUE(checkpoints.look().ok());
  EXPECT_EQ(stage_.saves, 0);
  consumed(164, 192, 1);
  ASSERT_TRUE(checkpoints.look().ok());
  ASSERT_TRUE(checkpoints.look().ok());
  EXPECT_EQ(stage_.saves, 1);
  EXPECT_EQ(position(), (SamplePosition{1, 64}));
}

TEST_F(CheckpointSaverTest, AfterSoLongIfAnythingWasConsumed) {
  every(0, 1'000'000);
  CheckpointSaver checkpoints = this->checkpoints();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  ASSERT_TRUE(checkpoints.look().ok());
  EXPECT_EQ(stage_.saves, 0);
  consumed(64, 64);
  ASSERT_TRUE(checkpoints.look().ok());
  EXPECT_EQ(stage_.saves, 1);
}

TEST_F(CheckpointSaverTest, AtTheEndIfThereIsSomethingNew) {
  every(1000, 0);
  CheckpointSaver checkpoints = this->checkpoints();
  ASSERT_TRUE(checkpoints.finish().ok());
  EXPECT_EQ(stage_.saves, 0);
  consumed(64, 64);
  ASSERT_TRUE(checkpoints.finish().ok());
  ASSERT_TRUE(checkpoints.finish().ok());
  EXPECT_EQ(stage_.saves, 1);
}

TEST_F(CheckpointSaverTest, SharedTensorsAreSavedBeforeAndHoldUpAPositionThatTheyDoNotReach) {
  every(1, 0);
  bool full = false;
  CheckpointSaver checkpoints(run_->context("sink"), stage_, [&]() -> Result<void> {
    if (full) return Error{"the disk is full"};
    EXPECT_FALSE(std::filesystem::exists(run_->stage("sink").position_file));
    return {};
  });
  consumed(64, 64);
  ASSERT_TRUE(checkpoints.look().ok());
  full = true;
  consumed(128, 128);
  EXPECT_EQ(message_of(checkpoints.look()), "the disk is full");
  EXPECT_EQ(position(), (SamplePosition{0, 64}));
}

TEST_F(CheckpointSaverTest, AStageThatCannotSaveEndsTheRun) {
  every(1, 0);
  CheckpointSaver checkpoints = this->checkpoints();
  consumed(64, 64);
  stage_.error = "the weights are on strike";
  EXPECT_EQ(message_of(checkpoints.look()), "save: the weights are on strike");
  EXPECT_EQ(saved(), "");
}

TEST_F(CheckpointSaverTest, AFolderThatIsGoneEndsTheRunWithItsName) {
  every(1, 0);
  CheckpointSaver checkpoints = this->checkpoints();
  consumed(64, 64);
  std::filesystem::remove_all(folder_.path());
  EXPECT_THAT(message_of(checkpoints.look()), testing::HasSubstr(run_->stage("sink").saved_file));
  std::filesystem::create_directory(folder_.path());
}

}  // namespace
}  // namespace brigade
