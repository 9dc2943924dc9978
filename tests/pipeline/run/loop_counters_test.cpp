#include "pipeline/run/loop_counters.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/support/number_line.h"

namespace brigade {
namespace {

using namespace std::chrono_literals;

class Counting : public testing::Test {
 protected:
  ReplicaCounters& words() { return run_.context("mix").counters(); }

  GraphBuilder graph_ = support::number_graph({});
  support::RunLine run_{graph_};
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
  counters_.end_wait(Cause::gate);
  EXPECT_GT(words().wait_other_ns, 0u);
}

TEST_F(Counting, ATaskCountsItsRowsAndItsTimeWithoutTheWaitsInIt) {
  counters_.begin_task();
  std::this_thread::sleep_for(1ms);
  counters_.interrupt_task();
  EXPECT_GE(words().busy_ns, 1'000'000u);
  counters_.begin_wait(Cause::memory);
  std::this_thread::sleep_for(20ms);
  counters_.end_wait(Cause::memory);
  const std::uint64_t before = words().busy_ns;
  counters_.end_task(5);
  EXPECT_LT(words().busy_ns - before, words().wait_out_ns);
  EXPECT_EQ(words().samples, 5u);
  EXPECT_EQ(words().tasks, 1u);
  EXPECT_NE(words().first_sample_ns, 0u);
}

}  // namespace
}  // namespace brigade
