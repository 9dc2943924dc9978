#include "pipeline/worker/tasks/epoch_notifier.h"

#include <gtest/gtest.h>

#include <atomic>

#include <brigade/text.h>
#include "tests/support/message_of.h"
#include "tests/support/number_line.h"

namespace brigade {
namespace {

/// The sink of a line of 100 samples in 2 epochs; its watermark is moved by hand.
class Ends : public testing::Test {
 protected:
  Ends() : run_(support::number_graph(line())) {
    stage_.on_epoch_end = [this](const EpochEnd& end) -> Result<void> {
      told_.push_back(concat(end.source, " ", end.epoch));
      return next_;
    };
    queues_.emplace(run_.control(), run_.index("sink"), 0);
  }
  static support::NumberLine line() {
    support::NumberLine line;
    line.samples = 100;
    line.batch = 64;
    return line;
  }
  EpochNotifier ends() { return EpochNotifier(run_.context("sink"), *queues_, &stage_); }
  void level(std::uint64_t number) { run_.queue("sink").watermark->level.value.store(number); }
  std::uint64_t ended_word() { return run_.context("sink").replica_words().ended.value; }

  support::RunLine run_;
  std::optional<JoinedQueues<SystemPolicy>> queues_;
  support::LambdaStage stage_{[](const Inputs&, Outputs&) { return Result<Next>(Next::emit); }};
  std::vector<std::string> told_;
  Result<void> next_;
};

TEST_F(Ends, AreToldOnceTheWatermarkHasPassed) {
  set_end(run_.control(), 0, 100, 128, 2);
  EpochNotifier ends = this->ends();
  level(64);
  ASSERT_TRUE(ends.call_passed().ok());
  EXPECT_TRUE(told_.empty());
  level(128);
  ASSERT_TRUE(ends.call_passed().ok());
  ASSERT_TRUE(ends.call_passed().ok());
  EXPECT_EQ(told_, (std::vector<std::string>{"mix 0"}));
  EXPECT_EQ(ended_word(), 1u);
  EXPECT_EQ(run_.context("sink").counters().epochs, 1u);
  level(256);
  ASSERT_TRUE(ends.call_passed().ok());
  ASSERT_TRUE(ends.call_passed().ok());  // nothing beyond the last epoch
  EXPECT_EQ(told_, (std::vector<std::string>{"mix 0", "mix 1"}));
}

TEST_F(Ends, SeveralAreToldInOrder) {
  set_end(run_.control(), 0, 100, 128, 2);
  EpochNotifier ends = this->ends();
  level(256);
  ASSERT_TRUE(ends.call_passed().ok());
  EXPECT_EQ(told_, (std::vector<std::string>{"mix 0", "mix 1"}));
}

TEST_F(Ends, WaitUntilThePeriodIsKnown) {
  EpochNotifier ends = this->ends();
  level(128);
  ASSERT_TRUE(ends.call_passed().ok());
  EXPECT_TRUE(told_.empty());
  set_end(run_.control(), 0, 100, 128, 2);
  ASSERT_TRUE(ends.call_passed().ok());
  EXPECT_EQ(told_.size(), 1u);
}

TEST_F(Ends, ACallThatFailedIsMadeAgainByTheSuccessor) {
  set_end(run_.control(), 0, 100, 128, 2);
  level(128);
  next_ = Error{"disk full"};
  EpochNotifier ends = this->ends();
  EXPECT_EQ(message_of(ends.call_passed()), "end of epoch 0 of \"mix\": disk full");
  EXPECT_EQ(ended_word(), 0u);

  next_ = {};
  EpochNotifier successor = this->ends();
  ASSERT_TRUE(successor.call_passed().ok());
  EXPECT_EQ(told_, (std::vector<std::string>{"mix 0", "mix 0"}));
  EpochNotifier third = this->ends();
  ASSERT_TRUE(third.call_passed().ok());
  EXPECT_EQ(told_.size(), 2u);
}

TEST_F(Ends, ProducersOnlyCount) {
  set_end(run_.control(), 0, 100, 128, 2);
  JoinedQueues<SystemPolicy> queues(run_.control(), run_.index("numbers"), 0);
  EpochNotifier ends(run_.context("numbers"), queues, nullptr);
  run_.queue("numbers").watermark->level.value.store(128);
  ASSERT_TRUE(ends.call_passed().ok());
  EXPECT_EQ(run_.context("numbers").counters().epochs, 1u);
}

// Sleepers over the planner's own shapes: nobody is rung later than it can go on.

using support::LambdaStage;
using support::RunLine;
using Reader = Channel<SystemPolicy>;

/// The only replica of a stage, asleep on what its next task needs.
class Sleeper {
 public:
  Sleeper(RunLine& line, const std::string& stage)
      : doorbell_(line.control().doorbells[line.stage(stage).first_replica]),
        channel_(line.control(), line.index(stage), 0, 0) {
    const Attempt<SystemPolicy> found = channel_.try_claim();
    EXPECT_EQ(found.look, Look::blocked);
    before_ = doorbell_.rings;
    doorbell_.until = found.until;
    set_waiter(found.blocked_on->waiters, line.stage(stage).first_replica);
  }
  bool is_rung() const { return doorbell_.rings != before_; }

 private:
  Doorbell<SystemPolicy>& doorbell_;
  std::uint32_t before_ = 0;
  Reader channel_;
};

TEST(WakeUps, EachReaderIsRungWhenItsOwnBatchIsThere) {
  GraphBuilder graph;
  graph.producer("numbers", {support::kValue}).chunk = 32;
  for (const int batch : {64, 96}) {
    ValidStage& reader = graph.consumer("by_" + std::to_string(batch), {"numbers"});
    reader.sources[0].batch = batch;
    reader.batched = true;
  }
  RunLine line(graph);
  set_end(line.control(), 0, 192, 192, 1);
  const Sleeper by_64(line, "by_64");
  const Sleeper by_96(line, "by_96");
  Reader writer(line.control(), line.index("numbers"), 0, 0);
  ASSERT_EQ(writer.task_size(), 32u);
  for (std::uint64_t task = 0; task < 3; ++task) {
    EXPECT_EQ(by_64.is_rung(), task >= 2) << task;
    EXPECT_FALSE(by_96.is_rung()) << task;
    writer.finish(task);
  }
  EXPECT_TRUE(by_96.is_rung());
}

TEST(WakeUps, AStreamMayWaitForWhatIsBelowIt) {
  GraphBuilder graph;
  graph.producer("echo", {support::kValue}).chunk = 1;
  graph.type_of("echo").indexed = false;
  graph.consumer("count", {"echo"}).chunk = 1;
  std::atomic<std::int64_t> had{0};
  std::int64_t given = 0;
  RunLine line(graph);
  line.stages["echo"] = [&](int) {
    return std::make_unique<LambdaStage>([&](const Inputs&, Outputs& out) -> Result<Next> {
      if (given == 2000) return Next::end;
      while (had < given) std::this_thread::yield();  // it has no other way to know
      out["value"].as<std::int64_t>()[0] = given++;
      return Next::emit;
    });
  };
  line.stages["count"] = [&](int) {
    return std::make_unique<LambdaStage>([&](const Inputs&, Outputs&) -> Result<Next> {
      ++had;
      return Next::emit;
    });
  };
  ASSERT_EQ(message_of(line.run()), "no error");
  EXPECT_EQ(had, 2000);
}

}  // namespace
}  // namespace brigade
