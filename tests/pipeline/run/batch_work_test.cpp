#include <gtest/gtest.h>

#include "pipeline/run/task_work.h"
#include "tests/support/number_line.h"

namespace brigade {
namespace {

/// The first task of `numbers` (50 samples, P = 64) is there; `mix` works on it as one batch.
class BatchTask : public testing::Test {
 protected:
  void plan(OnError policy = {}, bool drop_last = false) {
    support::NumberLine line;
    line.samples = 50;
    line.epochs = 1;
    line.batch = 64;
    line.batched_mix = true;
    graph_ = support::number_graph(line);
    graph_.type_of("mix").contract.may_drop = true;
    graph_.stage("mix").on_error = policy;
    graph_.stage("mix").drop_last = drop_last;
    run_.emplace(graph_);
    set_end(run_->control(), 0, 50, 64, 1);
    const auto producer = support::make_numbers(50);
    const auto work =
        make_producer_work(run_->context("numbers"), *producer, Sampler(50, 64, false, 7));
    ASSERT_TRUE(work->work(0, 0).ok());
  }
  Result<TaskDone> work(support::LambdaStage::Process process) {
    stage_ =
        std::make_unique<support::LambdaStage>([this, process](const Inputs& in, Outputs& out) {
          ++calls_;
          return process(in, out);
        });
    return make_batch_work(run_->context("mix"), *stage_)->work(0, 0);
  }
  void make_hole(std::uint64_t number) {
    run_->pool("numbers").headers(number)->state = RowState::hole;
  }
  std::uint64_t holes() {
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < 64; ++i)
      if (run_->pool("mix").headers(i)->state == RowState::hole) ++count;
    return count;
  }

  GraphBuilder graph_;
  std::optional<support::RunLine> run_;
  std::unique_ptr<support::LambdaStage> stage_;
  int calls_ = 0;
};

Result<Next> emit(const Inputs&, Outputs&) { return Next::emit; }

TEST_F(BatchTask, TheLastBatchIsShort) {
  plan();
  const auto done = work([&](const Inputs& in, Outputs& out) -> Result<Next> {
    EXPECT_EQ(in.rows(), 50);
    EXPECT_EQ(out["value"].shape(), Shape{50});
    EXPECT_EQ(run_->context("mix").replica_words().at.value, 0u);
    return Next::emit;
  });
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->full, 50u);
  EXPECT_EQ(done->not_full.pads, 14u);
  EXPECT_EQ(run_->context("mix").replica_words().at.value, kNever);
}

TEST_F(BatchTask, DropLastLeavesItOut) {
  plan({}, true);
  const auto done = work(emit);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(calls_, 0);
  EXPECT_EQ(done->full, 0u);
  EXPECT_EQ(done->not_full.pads, 14u);
  EXPECT_EQ(done->not_full.dropped, 50u);
  EXPECT_EQ(holes(), 50u);
}

TEST_F(BatchTask, DropLastKeepsABatchWithHolesOnly) {
  plan({}, true);
  for (std::uint64_t i = 50; i < 64; ++i) run_->pool("numbers").headers(i)->state = RowState::full;
  make_hole(3);
  const auto done = work(emit);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(calls_, 1);
  EXPECT_EQ(done->full, 63u);
  EXPECT_EQ(done->not_full.dropped, 0u);
}

TEST_F(BatchTask, NothingFullIsNoCall) {
  plan();
  for (std::uint64_t i = 0; i < 50; ++i) make_hole(i);
  const auto done = work(emit);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(calls_, 0);
  EXPECT_EQ(done->full, 0u);
  EXPECT_EQ(done->not_full.holes, 50u);
  EXPECT_EQ(holes(), 50u);
}

TEST_F(BatchTask, ADroppedBatchIsAllHoles) {
  plan();
  make_hole(3);
  const auto done = work([](const Inputs&, Outputs&) -> Result<Next> { return Next::drop; });
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->full, 0u);
  EXPECT_EQ(done->not_full.holes, 50u);
  EXPECT_EQ(done->not_full.total(), 64u);
  EXPECT_EQ(holes(), 50u);
}

TEST_F(BatchTask, ASkippedBatchSkipsItsSamples) {
  plan({true, 50, 0});
  make_hole(3);
  const auto done = work([](const Inputs&, Outputs&) -> Result<Next> { return Error{"bad"}; });
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(done->not_full.holes, 50u);
  EXPECT_EQ(run_->context("mix").words().skips.size(), 49u);
  EXPECT_EQ(run_->reporter.lines(),
            std::vector<std::string>{"skipped samples 0 to 49 (epoch 0): bad"});
}

TEST_F(BatchTask, AFailedBatchIsNamed) {
  plan();
  const auto done = work([](const Inputs&, Outputs&) -> Result<Next> { return Error{"bad"}; });
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().message, "stage \"mix\" (replica 0), samples 0 to 49 (epoch 0): bad");
}

}  // namespace
}  // namespace brigade
