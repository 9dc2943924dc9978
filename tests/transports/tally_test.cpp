#include "transports/tally.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(RowCounts, AddUpByKind) {
  RowCounts sum{1, 2, 3};
  sum += RowCounts{10, 20, 30};
  EXPECT_EQ(sum.pads, 11u);
  EXPECT_EQ(sum.holes, 22u);
  EXPECT_EQ(sum.dropped, 33u);
  EXPECT_EQ(sum.total(), 66u);
  EXPECT_FALSE(sum.none());
  EXPECT_TRUE(RowCounts{}.none());
}

TEST(Tally, TheNewestEntryIsTheLastWritten) {
  Tally<SystemPolicy> tally;
  EXPECT_TRUE(tally.entries[tally.newest()].counts().none());
  for (std::uint64_t sequence = 1; sequence < 6; ++sequence) {
    tally.write(sequence, 100 - sequence, {sequence, 2 * sequence, 0});  // tasks may go down
    const auto& newest = tally.entries[tally.newest()];
    EXPECT_EQ(newest.counts().holes, 2 * sequence);
    EXPECT_EQ(newest.task.load(), 100 - sequence);
  }
}

TEST(Tally, AWriteLeavesTheEntryBeforeItWhole) {
  Tally<SystemPolicy> tally;
  tally.write(1, 7, {0, 4, 0});
  tally.write(2, 9, {0, 5, 0});
  const auto& before = tally.entries[1 - tally.newest()];
  EXPECT_EQ(before.task.load(), 7u);
  EXPECT_EQ(before.counts().holes, 4u);
}

TEST(Tally, AHalfWrittenEntryIsNotTheNewest) {
  Tally<SystemPolicy> tally;
  tally.write(1, 7, {0, 4, 0});
  tally.write(2, 9, {0, 5, 0});
  auto& victim = tally.entries[1];  // where the third goes: its sequence number is stored last
  victim.task.store(11);
  victim.holes.store(1000);
  EXPECT_EQ(tally.entries[tally.newest()].counts().holes, 5u);
}

TEST(RowCounts, WhatAReplicaHasGivenIsCountedButIsNoRow) {
  RowCounts counts;
  EXPECT_TRUE(counts.none());
  counts.given = 3;
  EXPECT_FALSE(counts.none());
  counts += counts;
  EXPECT_EQ(counts.given, 6u);
  EXPECT_EQ(counts.total(), 0u);
  Tally<SystemPolicy> tally;
  tally.write(1, 0, counts);
  EXPECT_EQ(tally.entries[tally.newest()].counts().given, 6u);
}

}  // namespace
}  // namespace brigade
