#include "pipeline/worker/tasks/quarantine.h"

#include <gtest/gtest.h>

#include <brigade/text.h>
#include "pipeline/worker/replica/work.h"
#include "tests/support/number_line.h"
#include "transports/stop.h"

namespace brigade {
namespace {

/// numbers (100 samples, P = 128, shuffled, 2 epochs) -> mix -> sink (batches of 64).
class QuarantineTest : public testing::Test {
 protected:
  void plan(OnError policy) {
    support::NumberLine line;
    line.samples = 100;
    line.epochs = 2;
    line.batch = 64;
    line.slots = 64;
    graph_ = support::number_graph(line);
    for (const char* name : {"numbers", "mix", "sink"}) graph_.stage(name).on_error = policy;
    run_.emplace(graph_);
    set_end(run_->control(), 0, 100, 128, 2);
  }
  std::uint64_t id(std::uint64_t number) const {
    return Permutation(100, 7, static_cast<std::uint32_t>(number / 128))(number % 128);
  }
  /// The number that a sample has in epoch 1.
  std::uint64_t again(std::uint64_t number) const {
    std::uint64_t other = 128;
    while (id(other) != id(number)) ++other;
    return other;
  }
  void quarantine(const char* stage, std::uint64_t number) {
    run_->context(stage).words().quarantine.append(number);
  }
  void produce(std::uint64_t first) {
    const auto producer = support::make_numbers(100);
    const auto work =
        make_producer_work(run_->context("numbers"), *producer, Sampler(100, 128, true, 7));
    ASSERT_TRUE(work->work(0, first).ok());
  }
  const SlotHeader& slot(const char* stage, std::uint64_t number) {
    return *run_->ring(stage).headers(number);
  }

  GraphBuilder graph_;
  std::optional<support::RunLine> run_;
};

constexpr OnError kSkip{true, 10, 0};

TEST_F(QuarantineTest, ASampleIsAEmptyWithoutACall) {
  plan(kSkip);
  produce(0);
  quarantine("mix", 5);
  std::uint64_t calls = 0;
  support::LambdaStage mix([&](const Inputs& in, Outputs&) -> Result<Next> {
    ++calls;
    EXPECT_NE(in.info().number, 5u);
    return Next::emit;
  });
  const auto done = make_sample_work(run_->context("mix"), mix)->work(0, 0);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(calls, 63u);
  EXPECT_EQ(done->full, 63u);
  EXPECT_EQ(done->not_full.quarantined, 1u);
  EXPECT_EQ(done->not_full.empty_slots, 0u);
  EXPECT_EQ(slot("mix", 5).state, SlotState::empty);
}

TEST_F(QuarantineTest, TheUserIsToldWhichSampleAndWhy) {
  plan(kSkip);
  produce(0);
  quarantine("mix", 5);
  support::LambdaStage mix([](const Inputs&, Outputs&) -> Result<Next> { return Next::emit; });
  ASSERT_TRUE(make_sample_work(run_->context("mix"), mix)->work(0, 0).ok());
  EXPECT_EQ(run_->reporter.lines(),
            std::vector<std::string>{concat("skipped sample 5 (id ", id(5),
                                            " of epoch 0): it has killed its worker 2 times")});
  const QuarantinedSample expected{5, 0, 5, id(5), ""};
  EXPECT_EQ(run_->reporter.quarantined(), std::vector<QuarantinedSample>{expected});
  EXPECT_TRUE(run_->context("mix").words().skips.contains(5));
}

TEST_F(QuarantineTest, UnderStopItEndsTheRunAndIsStillListed) {
  plan({});
  produce(0);
  quarantine("mix", 5);
  support::LambdaStage mix([](const Inputs&, Outputs&) -> Result<Next> { return Next::emit; });
  const auto done = make_sample_work(run_->context("mix"), mix)->work(0, 0);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().message, concat("sample 5 (id ", id(5),
                                         " of epoch 0): it has killed its worker 2 times; write "
                                         "`on_error: {skip: N}` to continue without it"));
  EXPECT_EQ(run_->reporter.quarantined().size(), 1u);
}

TEST_F(QuarantineTest, TheSameSampleIsDroppedInLaterEpochs) {
  plan(kSkip);
  quarantine("mix", 5);
  const std::uint64_t number = again(5);
  const std::uint64_t first = number / 64 * 64;
  produce(first);
  support::LambdaStage mix([&](const Inputs& in, Outputs&) -> Result<Next> {
    EXPECT_NE(in.info().id, id(5));
    return Next::emit;
  });
  const auto done = make_sample_work(run_->context("mix"), mix)->work(0, first);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->not_full.quarantined, 1u);
  EXPECT_EQ(slot("mix", number).state, SlotState::empty);
}

TEST_F(QuarantineTest, AProducerDoesNotReadIt) {
  plan(kSkip);
  quarantine("numbers", 5);
  for (const std::uint64_t number : {std::uint64_t{5}, again(5)}) {
    const std::uint64_t first = number / 64 * 64;
    support::LambdaProducer producer(100, [&](std::uint64_t index, Outputs&) -> Result<Next> {
      EXPECT_NE(index, id(5));
      return Next::emit;
    });
    const auto work =
        make_producer_work(run_->context("numbers"), producer, Sampler(100, 128, true, 7));
    ASSERT_TRUE(work->work(0, first).ok());
    EXPECT_EQ(slot("numbers", number).state, SlotState::empty);
  }
  EXPECT_EQ(run_->reporter.quarantined().front().source, concat("file_", id(5)));
}

TEST_F(QuarantineTest, ABatchIsDroppedAsAWholeAndOnlyOnce) {
  plan({true, 100, 0});
  std::uint64_t calls = 0;
  support::LambdaStage mix([](const Inputs&, Outputs&) -> Result<Next> { return Next::emit; });
  support::LambdaStage sink([&](const Inputs& in, Outputs&) -> Result<Next> {
    ++calls;
    EXPECT_EQ(in.info().epoch, 1u);
    return Next::emit;
  });
  for (std::uint64_t number = 0; number < 64; ++number) quarantine("sink", number);
  const auto mixing = make_sample_work(run_->context("mix"), mix);
  const auto sinking = make_batch_work(run_->context("sink"), sink);
  for (const std::uint64_t first : {0, 128}) {
    produce(first);
    ASSERT_TRUE(mixing->work(0, first).ok());
    const auto done = sinking->work(0, first);
    ASSERT_TRUE(done.ok());
    EXPECT_EQ(done->not_full.quarantined, first == 0 ? 64u : 0u);
    EXPECT_EQ(done->full, first == 0 ? 0u : 64u);
  }
  EXPECT_EQ(calls, 1u);
  EXPECT_EQ(run_->reporter.lines(),
            std::vector<std::string>{
                "skipped samples 0 to 63 (epoch 0): the batch has killed its worker 2 times"});
}

TEST_F(QuarantineTest, WhatIsDroppedCountsAsSkipped) {
  plan({true, 1, 0});
  produce(0);
  quarantine("mix", 5);
  quarantine("mix", 6);
  support::LambdaStage mix([](const Inputs&, Outputs&) -> Result<Next> { return Next::emit; });
  const auto done = make_sample_work(run_->context("mix"), mix)->work(0, 0);
  ASSERT_FALSE(done.ok());
  EXPECT_NE(done.error().message.find("more samples failed than on_error: skip allows"),
            std::string::npos);
}

TEST_F(QuarantineTest, TheListOfOneQueueIsNotThatOfAnother) {
  GraphBuilder graph;
  graph.producer("numbers", {support::kValue});
  graph.producer("others", {support::kValue});
  graph.consumer("sink", {"others", "numbers"}, Join::epochs);
  support::RunLine run(graph);
  const ReplicaContext sink = run.context("sink");
  ErrorPolicy errors(sink);
  Quarantine quarantine(sink, errors);
  EXPECT_FALSE(quarantine.has(1, 5, 5));
  sink.words().quarantine.append(SampleAddress{0, 5}.word());
  EXPECT_TRUE(quarantine.has(0, 5, 5));
  EXPECT_FALSE(quarantine.has(1, 5, 5));
}

}  // namespace
}  // namespace brigade
