#include <gtest/gtest.h>

#include "tests/support/cached_line.h"

namespace brigade {
namespace {

using support::kCachedTask;
using support::kSamples;

class Cached : public support::CachedLine {};

TEST_F(Cached, GivesNothingBeforeTheRunHasBegun) {
  JoinedLanes<SystemPolicy> lanes = this->lanes();
  produce();
  EXPECT_EQ(step(lanes).look, Look::claimed);
  EXPECT_EQ(lanes.lane(), 1);
  const auto waits = lanes.try_claim();
  EXPECT_EQ(waits.look, Look::blocked);
  EXPECT_EQ(given(), 0u);
  for (std::uint64_t row = 0; row < kSamples; ++row)
    EXPECT_EQ(kept_rows_->state(row), row < kCachedTask ? RowState::full : RowState::pad) << row;
}

TEST_F(Cached, NorWhenItIsFullBeforeTheRunHasBegun) {
  set_end(run_->control(), 0, kSamples, kSamples, 1);  // that of its own domain comes next
  JoinedLanes<SystemPolicy> lanes = this->lanes();
  for (int task = 0; task < 5; ++task) {
    produce();
    ASSERT_EQ(step(lanes).look, Look::claimed);
    ASSERT_EQ(lanes.lane(), 1);
  }
  EXPECT_EQ(lanes.try_claim().look, Look::blocked);
  begin();
  EXPECT_EQ(step(lanes).look, Look::claimed);
  EXPECT_EQ(lanes.lane(), 0);
}

TEST_F(Cached, AReplicaThatWaitsForASampleHoldsNothing) {
  begin();
  JoinedLanes<SystemPolicy> lanes = this->lanes();
  for (int task = 0; task < 4;
       ++task) {  // the last twenty are missing, and shuffled among the first
    produce();
    ASSERT_EQ(step(lanes).look, Look::claimed);
    ASSERT_EQ(lanes.lane(), 1);
  }
  const auto waits = step(lanes);
  ASSERT_EQ(waits.look, Look::blocked);
  EXPECT_EQ(waits.cause, Cause::input);
  EXPECT_EQ(claimed_tasks(run_->control(), run_->index("kept"), 0), 0u);
  EXPECT_EQ(claimed_tasks(run_->control(), run_->index("kept"), 1), 0u);
  produce();
  ASSERT_EQ(step(lanes).look, Look::claimed);  // keeps the last
  ASSERT_EQ(step(lanes).look, Look::claimed);
  EXPECT_EQ(lanes.lane(), 0);
}

TEST_F(Cached, GivesEverySampleInEveryEpoch) {
  begin();
  JoinedLanes<SystemPolicy> lanes = this->lanes();
  for (int task = 0; task < 5; ++task)
    produce(task == 0 ? std::vector<std::uint64_t>{7} : std::vector<std::uint64_t>{});
  Channel<SystemPolicy> sink(run_->control(), run_->index("sink"), 0, 0);
  std::vector<int> seen(kSamples);
  const RowPool& pool = run_->pool("kept");
  const Permutation order(kSamples, 0, 1);
  for (int steps = 0; steps < 100; ++steps) {
    const auto claim = sink.try_claim();
    if (claim.look == Look::ended) break;
    if (claim.look == Look::blocked) {
      ASSERT_EQ(step(lanes).look, Look::claimed);
      continue;
    }
    for (std::uint64_t n = claim.task * kCachedTask; n < (claim.task + 1) * kCachedTask; ++n) {
      const RowHeader& header = *pool.headers(n);
      EXPECT_EQ(header.number, n);
      EXPECT_EQ(header.index, n % kSamples);
      EXPECT_EQ(header.epoch, n / kSamples);
      EXPECT_TRUE(header.epoch == 0 || header.id == order(header.index));
      ++seen[header.id];
      EXPECT_EQ(header.state, header.id == 7 ? RowState::hole : RowState::full);
      if (header.id == 7) continue;
      EXPECT_EQ(*reinterpret_cast<const std::int64_t*>(pool.row(0, n)),
                static_cast<std::int64_t>(header.id) * 10);
      EXPECT_EQ(*reinterpret_cast<const std::int64_t*>(pool.row(2, n)),
                static_cast<std::int64_t>(header.id % 3));
      EXPECT_TRUE(header.id % 3 == 0 || *pool.row(1, n) == static_cast<std::byte>(header.id));
    }
    sink.finish(claim.task);
  }
  for (const int times : seen) EXPECT_EQ(times, 2);
  EXPECT_EQ(step(lanes).look, Look::ended);
  EXPECT_EQ(run_->audit("kept", "sink").leaked, 0);
  EXPECT_EQ(run_->audit("numbers", "kept", 1).leaked, 0);
}

TEST_F(Cached, ARowThatIsThereIsNotWrittenAgain) {
  begin();
  produce();
  ASSERT_TRUE(work_->work(1, 0).ok());
  auto* value = reinterpret_cast<std::int64_t*>(run_->pool("numbers").row(0, 3));
  *value = 4711;
  const auto again = work_->work(1, 0);  // as after a death before it was finished
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->full, kCachedTask);
  EXPECT_EQ(*reinterpret_cast<const std::int64_t*>(kept_rows_->row(0, 3)), 30);
}

TEST_F(Cached, ARowIsThereOnlyWhenAllOfItIs) {
  begin();
  produce();
  auto* torn = reinterpret_cast<std::int64_t*>(kept_rows_->row(0, 3));
  *torn = 1234;  // by a replica that died before it said that the row is there
  EXPECT_EQ(kept_rows_->state(3), RowState::pad);
  ASSERT_TRUE(work_->work(1, 0).ok());
  EXPECT_EQ(*torn, 30);
  EXPECT_EQ(kept_rows_->state(3), RowState::full);
}

TEST_F(Cached, AfterAStopTheRowsThatNeverCameAreHoles) {
  begin();
  JoinedLanes<SystemPolicy> lanes = this->lanes();
  produce();
  ASSERT_EQ(step(lanes).look, Look::claimed);
  run_->control().domains[0]->end.value = kCachedTask;  // as a stop lowers it
  ASSERT_EQ(step(lanes).look, Look::claimed);
  EXPECT_EQ(lanes.lane(), 0);
  std::uint64_t full = 0;
  for (std::uint64_t n = 0; n < kCachedTask; ++n) {
    const RowHeader& header = *run_->pool("kept").headers(n);
    EXPECT_EQ(header.state, header.id < kCachedTask ? RowState::full : RowState::hole);
    full += header.state == RowState::full;
  }
  EXPECT_LT(full, kCachedTask);
}

TEST_F(Cached, AStopIsAcknowledgedWhileItGoesOnKeeping) {
  begin();
  JoinedLanes<SystemPolicy> lanes = this->lanes();
  produce();
  ask_stop(run_->control());
  EXPECT_EQ(step(lanes).look, Look::claimed);
  EXPECT_EQ(lanes.lane(), 1);
  EXPECT_EQ(run_->context("kept").replica_words().ack.value, 1u);
}

TEST(CacheRowsOfRanks, AreWhereThisRankHasReadThem) {
  Plan plan;
  const RowHeader header{9, 5, 42, 0, RowState::full, {}};
  EXPECT_EQ(cache_row_of(plan, header), 42u);
  EXPECT_EQ(cached_id(plan, 42), 42u);
  plan.shard = {1, 4, Uneven::pad};
  EXPECT_EQ(cache_row_of(plan, header), 5u);
  EXPECT_EQ(cached_id(plan, 5), 21u) << "no other rank has it";
}

}  // namespace
}  // namespace brigade
