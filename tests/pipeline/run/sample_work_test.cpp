#include <gtest/gtest.h>

#include "pipeline/run/task_work.h"
#include "tests/support/number_line.h"

namespace brigade {
namespace {

/// The first task of `numbers` is there; `mix` and `sink` work on it by samples.
class SampleTask : public testing::Test {
 protected:
  void plan(OnError policy = {}, bool may_drop = false) {
    support::NumberLine line;
    line.samples = 50;
    line.epochs = 1;
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
  Result<TaskDone> work(const std::string& name, support::LambdaStage::Process process) {
    stage_ = std::make_unique<support::LambdaStage>(std::move(process));
    return make_sample_work(run_->context(name), *stage_)->work(0, 0);
  }
  RowState state(std::uint64_t number) { return run_->pool("mix").headers(number)->state; }

  GraphBuilder graph_;
  std::optional<support::RunLine> run_;
  std::unique_ptr<support::LambdaStage> stage_;
};

TEST_F(SampleTask, EachFullRowIsOneCall) {
  plan();
  std::vector<std::uint64_t> at;
  auto& word = run_->context("mix").replica_words().at.value;
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
    EXPECT_EQ(*reinterpret_cast<std::int64_t*>(run_->pool("mix").row(0, i)),
              static_cast<std::int64_t>(i + 1));
    EXPECT_EQ(run_->pool("mix").headers(i)->id, i);
  }
  EXPECT_EQ(word, kNever);
  EXPECT_EQ(state(49), RowState::full);
  EXPECT_EQ(state(50), RowState::pad);
}

TEST_F(SampleTask, DroppedAndSkippedSamplesAreHoles) {
  plan({true, 5, 0}, true);
  const auto done = work("mix", [&](const Inputs& in, Outputs&) -> Result<Next> {
    if (in.sample().id == 3) return Next::drop;
    if (in.sample().id == 4) throw std::runtime_error("bad");
    return Next::emit;
  });
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(done->full, 48u);
  EXPECT_EQ(done->not_full.holes, 2u);
  EXPECT_EQ(state(3), RowState::hole);
  EXPECT_EQ(state(4), RowState::hole);
  EXPECT_EQ(run_->reporter.lines(),
            std::vector<std::string>{"skipped sample 4 (id 4 of epoch 0): bad"});
}

TEST_F(SampleTask, HolesArePassedOnWithoutACall) {
  plan();
  run_->pool("numbers").headers(7)->state = RowState::hole;
  std::uint64_t calls = 0;
  const auto done = work("mix", [&](const Inputs& in, Outputs&) -> Result<Next> {
    ++calls;
    EXPECT_NE(in.sample().id, 7u);
    return Next::emit;
  });
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(calls, 49u);
  EXPECT_EQ(done->not_full.holes, 1u);
  EXPECT_EQ(state(7), RowState::hole);
}

TEST_F(SampleTask, ConsumersSkipToo) {
  plan({true, 1, 0});
  const auto mixed =
      work("mix", [](const Inputs&, Outputs&) -> Result<Next> { return Next::emit; });
  ASSERT_TRUE(mixed.ok());
  const auto done = work("sink", [](const Inputs& in, Outputs& out) -> Result<Next> {
    EXPECT_EQ(out.size(), 0u);
    if (in.sample().id == 9) return Error{"bad"};
    return Next::emit;
  });
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->full, 49u);
  EXPECT_EQ(done->not_full.holes, 1u);
}

}  // namespace
}  // namespace brigade
