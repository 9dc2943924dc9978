#include "pipeline/stats/counters.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/support/line.h"

namespace brigade {
namespace {

TEST(Counters, EachReplicaHasItsOwnPiece) {
  SharedShape shape = support::line_shape({{2, 1, 4, {}}, {1, 1, 0, {0}}});
  shape.replica_extra_bytes = kReplicaCounterBytes;
  support::LineMemory memory(control_bytes<SystemPolicy>(shape));
  const auto control = create_control<SystemPolicy>(memory.data(), shape);
  for (int r = 0; r < 3; ++r)
    count_up(live_counters(control, r).samples, static_cast<std::uint64_t>(r) + 10);
  for (int r = 0; r < 3; ++r) {
    EXPECT_EQ(live_counters(control, r).samples, static_cast<std::uint64_t>(r) + 10);
    EXPECT_EQ(live_counters(control, r).tasks, 0u);
  }
  const auto* last = reinterpret_cast<const std::byte*>(&live_counters(control, 2) + 1);
  EXPECT_LE(last, memory.data() + control.bytes);
}

TEST(Counters, TimesFallIntoPowersOfTwo) {
  EXPECT_EQ(time_bucket(-5), 0u);
  EXPECT_EQ(time_bucket(0), 0u);
  EXPECT_EQ(time_bucket(1), 1u);
  EXPECT_EQ(time_bucket(1023), 10u);
  EXPECT_EQ(time_bucket(1024), 11u);
  EXPECT_EQ(time_bucket(std::int64_t{1} << 62), kTimeBuckets - 1);
}

TEST(Counters, QuantilesAreUpperBoundsOfTheirBucket) {
  const auto counters = std::make_unique<ReplicaCounters>();
  EXPECT_EQ(task_time_quantile(*counters, 0.5), 0u);
  for (int i = 0; i < 98; ++i) count_up(counters->task_times[time_bucket(1000)], 1);
  for (int i = 0; i < 2; ++i) count_up(counters->task_times[time_bucket(1'000'000)], 1);
  EXPECT_EQ(task_time_quantile(*counters, 0.0), 1024u);
  EXPECT_EQ(task_time_quantile(*counters, 0.5), 1024u);
  EXPECT_EQ(task_time_quantile(*counters, 0.98), 1024u);
  EXPECT_EQ(task_time_quantile(*counters, 0.99), 1u << 20);
  EXPECT_EQ(task_time_quantile(*counters, 1.0), 1u << 20);
}

}  // namespace
}  // namespace brigade
