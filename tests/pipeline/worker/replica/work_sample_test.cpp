#include <gtest/gtest.h>

#include "pipeline/worker/replica/work.h"
#include "tests/support/number_line.h"

namespace brigade {
namespace {

/// The first task of `numbers` (50 samples, P = 64) is there.
class FirstTask : public testing::Test {
 protected:
  void plan(OnError policy, bool may_drop, bool batched = false) {
    support::NumberLine line;
    line.samples = 50;
    line.epochs = 1;
    if (batched) line.batch = 64;
    line.batched_mix = batched;
    graph_ = support::number_graph(line);
    graph_.type_of("mix").contract.may_drop = may_drop;
    graph_.stage("mix").on_error = policy;
    graph_.stage("sink").on_error = policy;
    run_.emplace(graph_);
    set_end(run_->control(), 0, 50, 64, 1);
    const auto producer = support::make_numbers(50);
    const auto work =
        make_producer_work(run_->context("numbers"), *producer, Sampler(50, 64, false, 7));
    ASSERT_TRUE(work->work(0, 0).ok());
  }
  SlotState state(std::uint64_t number) { return run_->ring("mix").headers(number)->state; }

  GraphBuilder graph_;
  std::optional<support::RunLine> run_;
  std::unique_ptr<support::LambdaStage> stage_;
};

/// `mix` and `sink` work on it by samples.
class SampleTask : public FirstTask {
 protected:
  void plan(OnError policy = {}, bool may_drop = false) { FirstTask::plan(policy, may_drop); }
  Result<TaskDone> work(const std::string& name, support::LambdaStage::Process process) {
    stage_ = std::make_unique<support::LambdaStage>(std::move(process));
    return make_sample_work(run_->context(name), *stage_)->work(0, 0);
  }
};

TEST_F(SampleTask, EachFullSlotIsOneCall) {
  plan();
  std::vector<std::uint64_t> at;
  auto& word = run_->context("mix").replica_words().in_flight.value;
  const auto done = work("mix", [&](const Inputs& in, Outputs& out) -> Result<Next> {
    at.push_back(word);
    out["value"].as<std::int64_t>()[0] = in["value"].as<std::int64_t>()[0] + 1;
    return Next::emit;
  });
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->full, 50u);
  EXPECT_EQ(done->not_full.pads, 14u);
  ASSERT_EQ(at.size(), 50u);
  for (std::uint64_t i = 0; i < 50; ++i) {
    EXPECT_EQ(at[i], i);
    EXPECT_EQ(*reinterpret_cast<std::int64_t*>(run_->ring("mix").slot(0, i)),
              static_cast<std::int64_t>(i + 1));
    EXPECT_EQ(run_->ring("mix").headers(i)->id, i);
  }
  EXPECT_EQ(word, kNever);
  EXPECT_EQ(state(49), SlotState::full);
  EXPECT_EQ(state(50), SlotState::pad);
}

TEST_F(SampleTask, ConsumersSkipToo) {
  plan({true, 1, 0});
  const auto mixed =
      work("mix", [](const Inputs&, Outputs&) -> Result<Next> { return Next::emit; });
  ASSERT_TRUE(mixed.ok());
  const auto done = work("sink", [](const Inputs& in, Outputs& out) -> Result<Next> {
    EXPECT_EQ(out.size(), 0u);
    if (in.info().id == 9) return Error{"bad"};
    return Next::emit;
  });
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->full, 49u);
  EXPECT_EQ(done->not_full.empty_slots, 1u);
}

/// `mix` works on it as one batch.
class BatchTask : public FirstTask {
 protected:
  void plan(OnError policy = {}) { FirstTask::plan(policy, true, true); }
  Result<TaskDone> work(support::LambdaStage::Process process) {
    stage_ = std::make_unique<support::LambdaStage>(std::move(process));
    return make_batch_work(run_->context("mix"), *stage_)->work(0, 0);
  }
  void make_empty(std::uint64_t number) {
    run_->ring("numbers").headers(number)->state = SlotState::empty;
  }
};

TEST_F(BatchTask, TheLastBatchIsShort) {
  plan();
  const auto done = work([&](const Inputs& in, Outputs& out) -> Result<Next> {
    EXPECT_EQ(in.samples(), 50);
    EXPECT_EQ(out["value"].shape(), Shape{50});
    EXPECT_EQ(run_->context("mix").replica_words().in_flight.value, 0u);
    return Next::emit;
  });
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->full, 50u);
  EXPECT_EQ(done->not_full.pads, 14u);
  EXPECT_EQ(run_->context("mix").replica_words().in_flight.value, kNever);
}

TEST_F(BatchTask, ASkippedBatchSkipsItsSamples) {
  plan({true, 50, 0});
  make_empty(3);
  const auto done = work([](const Inputs&, Outputs&) -> Result<Next> { return Error{"bad"}; });
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(done->not_full.empty_slots, 50u);
  EXPECT_EQ(run_->context("mix").words().skips.size(), 49u);
  EXPECT_EQ(run_->reporter.lines(),
            std::vector<std::string>{"skipped samples 0 to 49 (epoch 0): bad"});
}

TEST_F(BatchTask, AFailedBatchIsNamed) {
  plan();
  const auto done = work([](const Inputs&, Outputs&) -> Result<Next> { return Error{"bad"}; });
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().message, "samples 0 to 49 (epoch 0): bad");
}

}  // namespace
}  // namespace brigade
