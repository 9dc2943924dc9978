#include <gtest/gtest.h>

#include "pipeline/worker/replica/work.h"
#include "tests/support/message_of.h"
#include "tests/support/number_line.h"

namespace brigade {
namespace {

/// numbers, 100 samples with P = 128, tasks of 64.
class ProducerTask : public testing::Test {
 protected:
  ProducerTask() : run_(graph()), producer_(support::make_numbers(100)) {}

  static GraphBuilder graph() {
    support::NumberLine line;
    line.samples = 100;
    line.batch = 64;
    GraphBuilder graph = support::number_graph(line);
    graph.type_of("numbers").contract.may_drop = true;
    return graph;
  }
  std::unique_ptr<Work> work(Producer& producer, bool shuffle = true) {
    return make_producer_work(run_.context("numbers"), producer, Sampler(100, 128, shuffle, 7));
  }
  const SlotHeader& header(std::uint64_t number) { return *run_.ring("numbers").headers(number); }
  std::int64_t value(std::uint64_t number) {
    return *reinterpret_cast<std::int64_t*>(run_.ring("numbers").slot(0, number));
  }

  support::RunLine run_;
  std::unique_ptr<Producer> producer_;
};

TEST_F(ProducerTask, TheInFlightSampleIsKnownWhileItIsRead) {
  std::vector<std::uint64_t> at;
  auto& word = run_.context("numbers").replica_words().in_flight.value;
  support::LambdaProducer producer(100, [&](std::uint64_t, Outputs&) -> Result<Next> {
    at.push_back(word);
    return Next::emit;
  });
  ASSERT_TRUE(work(producer)->work(0, 64).ok());
  ASSERT_EQ(at.size(), 36u);
  for (std::uint64_t i = 0; i < 36; ++i) EXPECT_EQ(at[i], 64 + i);
  EXPECT_EQ(word, kNever);
}

TEST_F(ProducerTask, ItsLastHeaderSaysWhetherAllAreFull) {
  bool drops = false;
  support::LambdaProducer producer(100, [&](std::uint64_t id, Outputs&) -> Result<Next> {
    return drops && id == 20 ? Next::drop : Next::emit;
  });
  const auto work = this->work(producer, false);
  ASSERT_TRUE(work->work(0, 0).ok());
  EXPECT_EQ(header(63).full_before, 63u);
  drops = true;  // again, as who comes after one that died
  ASSERT_TRUE(work->work(0, 0).ok());
  EXPECT_EQ(header(63).full_before, 0u);
  EXPECT_EQ(header(20).state, SlotState::empty);
  ASSERT_TRUE(work->work(0, 64).ok());  // padded
  EXPECT_EQ(header(99).full_before, 0u);
  EXPECT_EQ(header(127).full_before, 0u);
  drops = false;
  ASSERT_TRUE(work->work(0, 128).ok());
  EXPECT_EQ(header(191).full_before, 63u) << "the one before is padding";
}

TEST_F(ProducerTask, AFailureNamesTheFileAndKeepsTheInFlightSample) {
  support::LambdaProducer producer(100, [&](std::uint64_t id, Outputs&) -> Result<Next> {
    if (id == 7) return Error{"cannot read it"};
    return Next::emit;
  });
  EXPECT_EQ(message_of(work(producer, false)->work(0, 0)),
            "sample 7 (id 7 of epoch 0: \"file_7\"): cannot read "
            "it");
  EXPECT_EQ(run_.context("numbers").replica_words().in_flight.value, 7u);
}

}  // namespace
}  // namespace brigade
