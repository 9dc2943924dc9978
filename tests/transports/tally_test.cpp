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

/// As a repair leaves them: the entry that counts, twice.
TEST(Tally, OfTwoWithOneNumberTheNewestIsTheOneThatIsNotWrittenNext) {
  for (const std::uint64_t last : {1, 2, 3, 4}) {
    Tally<SystemPolicy> tally;
    for (std::uint64_t sequence = 1; sequence <= last; ++sequence)
      tally.write(sequence, sequence, {0, sequence, 0});
    auto& other = tally.entries[(last + 1) % 2];
    other.holes.store(last);
    other.task.store(last);
    other.sequence.store(last);
    EXPECT_EQ(tally.newest(), static_cast<int>(last % 2));
    other.holes.store(1000);  // a successor's first entry, cut short before its number
    EXPECT_EQ(tally.entries[tally.newest()].counts().holes, last);
    tally.write(last + 1, last + 1, {0, last + 1, 0});
    EXPECT_EQ(tally.entries[tally.newest()].counts().holes, last + 1);
  }
}

TEST(RowCounts, WhatAReplicaHasDoneIsCountedButIsNoRow) {
  RowCounts counts;
  EXPECT_TRUE(counts.none());
  counts.samples_done = 3;
  EXPECT_FALSE(counts.none());
  counts += counts;
  EXPECT_EQ(counts.samples_done, 6u);
  EXPECT_EQ(counts.total(), 0u);
  Tally<SystemPolicy> tally;
  tally.write(1, 0, counts);
  EXPECT_EQ(tally.entries[tally.newest()].counts().samples_done, 6u);
}

}  // namespace
}  // namespace brigade
