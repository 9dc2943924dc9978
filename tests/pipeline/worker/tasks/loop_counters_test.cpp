#include "pipeline/worker/tasks/loop_counters.h"
#include "pipeline/worker/tasks/poll_backoff.h"
#include "pipeline/worker/tasks/slot_io.h"
#include "pipeline/worker/tasks/source_names.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "tests/support/fake_stages.h"
#include "tests/support/number_line.h"

namespace brigade {
namespace {

using namespace std::chrono_literals;

class Counting : public testing::Test {
 protected:
  ReplicaCounters& words() { return run_.context("mix").counters(); }

  support::RunLine run_{support::number_graph({})};
  LoopCounters counters_{run_.context("mix")};
};

TEST_F(Counting, WaitsCountUnderTheirCause) {
  counters_.begin_wait(Cause::memory);
  EXPECT_EQ(words().waiting, static_cast<std::uint64_t>(Waiting::memory));
  EXPECT_NE(words().since_ns, 0u);
  std::this_thread::sleep_for(1ms);
  counters_.end_wait(Cause::memory);
  EXPECT_EQ(words().waiting, static_cast<std::uint64_t>(Waiting::no));
  EXPECT_GE(words().wait_out_ns, 1'000'000u);
  EXPECT_EQ(words().wait_in_ns, 0u);
  counters_.end_wait(Cause::input);
  EXPECT_GT(words().wait_in_ns, 0u);
  counters_.end_wait(Cause::barrier);
  EXPECT_GT(words().wait_other_ns, 0u);
}

TEST_F(Counting, ATaskCountsItsSlotsAndItsTimeWithoutTheWaitsInIt) {
  const std::int64_t begun = counters_.now_ns();  // where its time begins
  counters_.begin_task();
  std::this_thread::sleep_for(1ms);
  counters_.interrupt_task();
  EXPECT_GE(words().busy_ns, 1'000'000u);
  counters_.begin_wait(Cause::memory);
  std::this_thread::sleep_for(20ms);
  counters_.end_wait(Cause::memory);
  counters_.end_task(5);
  const auto all = static_cast<std::uint64_t>(monotonic_ns() - begun);
  EXPECT_GE(words().wait_out_ns, 20'000'000u);
  EXPECT_LE(words().busy_ns + words().wait_out_ns, all);
  EXPECT_EQ(words().samples, 5u);
  EXPECT_EQ(words().tasks, 1u);
  EXPECT_NE(words().first_sample_ns, 0u);
}

TEST(SlotIo, ConsumersHaveNoWriter) {
  support::RunLine run(support::number_graph({}));
  EXPECT_FALSE(SlotIo(run.context("sink")).writer.has_value());
  EXPECT_TRUE(SlotIo(run.context("mix")).writer.has_value());
}

TEST(SlotIo, ReaderAndWriterTurnToTheSameTask) {
  support::RunLine run(support::number_graph({}));
  const auto producer = support::make_numbers(100);
  const auto work =
      make_producer_work(run.context("numbers"), *producer, Sampler(100, 128, false, 7));
  ASSERT_TRUE(work->work(0, 64).ok());
  SlotIo slots(run.context("mix"));
  RecordReader& reader = slots.begin(0, 64);
  EXPECT_EQ(reader.headers()[0].number, 64u);
  slots.writer->pass_on(reader.headers(), reader.states());
  EXPECT_EQ(slots.writer->headers()[0].number, 64u);
}

class Pause : public testing::Test {
 protected:
  support::RunLine run_{support::number_graph({})};
};

TEST_F(Pause, LastsAtMostAsLongAsItMayAndCountsSinceTheLastSample) {
  PollBackoff pause(run_.context("numbers"));
  for (int i = 0; i < 3; ++i) pause.sleep(1'000'000'000);  // 50, 100, 200 us
  EXPECT_GE(pause.waited_ns(), 300'000);
  const std::int64_t before = pause.waited_ns();
  pause.reset();
  EXPECT_LT(pause.waited_ns(), before + 1'000'000'000);
  pause.sleep(0);
}

TEST_F(Pause, StartsSmallAgain) {
  PollBackoff pause(run_.context("numbers"));
  for (int i = 0; i < 8; ++i) pause.sleep(1);
  EXPECT_LT(pause.waited_ns(), 8 * kStreamPauseLongestNs * 50);
  pause.reset();
  pause.sleep(kStreamPauseLongestNs);
  EXPECT_GE(pause.waited_ns(), kStreamPauseFirstNs);
}

PlanStage source(const std::string& name, bool indexed = true) {
  PlanStage stage;
  stage.name = name;
  stage.indexed = indexed;
  return stage;
}

Result<std::shared_ptr<Producer>> make(int& opened) {
  ++opened;
  return std::shared_ptr<Producer>(std::make_shared<support::LambdaProducer>(
      10, [](std::uint64_t, Outputs&) -> Result<Next> { return Next::emit; }));
}

TEST(SourceNames, AreTheProducersAndItIsOpenedOnce) {
  int opened = 0;
  SourceNames names([&](const PlanStage&) { return make(opened); });
  EXPECT_EQ(opened, 0);
  EXPECT_EQ(names.name(source("files"), 3), "file_3");
  EXPECT_EQ(names.name(source("files"), 4), "file_4");
  EXPECT_EQ(opened, 1);
  EXPECT_EQ(names.name(source("others"), 4), "file_4");
  EXPECT_EQ(opened, 2);
}

TEST(SourceNames, StreamsHaveNone) {
  int opened = 0;
  SourceNames names([&](const PlanStage&) { return make(opened); });
  EXPECT_EQ(names.name(source("lines", false), 3), "");
  EXPECT_EQ(opened, 0);
}

TEST(SourceNames, ASourceThatCannotBeOpenedIsTriedOnce) {
  int tried = 0;
  SourceNames names([&](const PlanStage&) -> Result<std::shared_ptr<Producer>> {
    ++tried;
    return Error{"no such file"};
  });
  EXPECT_EQ(names.name(source("files"), 3), "");
  EXPECT_EQ(names.name(source("files"), 3), "");
  EXPECT_EQ(tried, 1);
}

TEST(SourceNames, AnExceptionIsNoName) {
  SourceNames names([&](const PlanStage&) -> Result<std::shared_ptr<Producer>> {
    throw std::runtime_error("broken");
  });
  EXPECT_EQ(names.name(source("files"), 3), "");
  EXPECT_EQ(SourceNames().name(source("files"), 3), "");
}

}  // namespace
}  // namespace brigade
