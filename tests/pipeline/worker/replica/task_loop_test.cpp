#include "pipeline/worker/replica/task_loop.h"

#include <gtest/gtest.h>

#include "tests/support/number_line.h"

namespace brigade {
namespace {

using support::NumberLine;

TEST(TaskLoop, WaitsAreCountedByCause) {
  NumberLine line;
  line.samples = 64;
  line.epochs = 1;
  support::LoggedLine run(line);
  const ReplicaCounters& mix = live_counters(run.control(), run.stage("mix").first_replica);
  const ReplicaCounters& sink = live_counters(run.control(), run.stage("sink").first_replica);
  const auto slow = [&](const Inputs& in, Outputs&) -> Result<Next> {
    if (in.info().index != 0) return Next::emit;
    while (sink.waiting != static_cast<std::uint64_t>(Waiting::input)) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return Next::emit;
  };
  run.stages["mix"] = [&](int) { return std::make_unique<support::LambdaStage>(slow); };
  ASSERT_TRUE(run.run().ok());
  EXPECT_GE(mix.busy_ns, 20'000'000u);
  EXPECT_GE(sink.wait_in_ns, 10'000'000u);
  EXPECT_GT(sink.first_sample_ns, mix.first_sample_ns);
  EXPECT_EQ(sink.waiting, static_cast<std::uint64_t>(Waiting::no));
}

}  // namespace
}  // namespace brigade
