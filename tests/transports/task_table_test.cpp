#include "transports/task_table.h"
#include "transports/slot_ring.h"
#include "transports/tally.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

class FourWords : public testing::Test {
 protected:
  FourWords() { table_.initialise(); }
  void put(std::uint64_t task, std::uint64_t word) { table_.word(task).store(word); }
  TaskTable<SystemPolicy>::Seen see(std::uint64_t task) {
    return table_.read(table_.word(task).load(), task);
  }

  Line<SystemPolicy> lines_[4];
  TaskTable<SystemPolicy> table_{lines_, 4};
};

TEST(TaskWord, KeepsItsThreeFieldsApart) {
  for (std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1}, (std::uint64_t{1} << 48) - 1}) {
    for (TaskState state : {TaskState::open, TaskState::claimed, TaskState::done}) {
      for (int owner : {0, 1, 255}) {
        const auto back =
            TaskWord::unpack(TaskWord{number, state, static_cast<std::uint8_t>(owner)}.pack());
        EXPECT_EQ(back.number, number);
        EXPECT_EQ(back.state, state);
        EXPECT_EQ(back.owner, owner);
      }
    }
  }
}

TEST_F(FourWords, AnOlderNumberReadsAsOpenAndANewerAsLongDone) {
  put(2, table_.done(2, 9));
  EXPECT_EQ(see(6).state, TaskState::open);
  EXPECT_FALSE(see(6).newer);
  put(6, table_.claimed(6, 1));
  EXPECT_TRUE(see(2).newer);
}

TEST_F(FourWords, AStaleCompareAndSwapCannotSucceed) {
  std::uint64_t stale = table_.word(2).load();  // reads as open for 2
  put(2, table_.done(2, 1));                    // somebody else was faster ...
  put(2, table_.open(6));                       // ... and a round later the word is open again
  EXPECT_FALSE(table_.word(2).compare_exchange_strong(stale, table_.claimed(2, 3)));
}

TEST(TwoArrays, ASlotLiesAtItsNumberModuloTheRing) {
  alignas(64) std::byte memory[4096]{};
  const SlotRing ring{memory, 8, {{256, 16}, {1024, 64}}};
  EXPECT_EQ(ring.slot(0, 3), memory + 256 + 3 * 16);
  EXPECT_EQ(ring.slot(0, 11), ring.slot(0, 3));
  EXPECT_EQ(ring.slot(1, 7), memory + 1024 + 7 * 64);
  EXPECT_EQ(ring.slot(1, 8), memory + 1024);
  EXPECT_EQ(static_cast<void*>(ring.headers(2)), memory + 2 * sizeof(SlotHeader));
  EXPECT_EQ(ring.headers(10), ring.headers(2));
}

TEST(SlotHeader, ZeroedMemoryIsNoFullSlot) {
  EXPECT_NE(static_cast<SlotState>(0), SlotState::full);
  EXPECT_NE(SlotHeader{}.state, SlotState::full);
}

TEST(SlotCounts, AddUpByKind) {
  SlotCounts sum{1, 2, 3};
  sum += SlotCounts{10, 20, 30};
  EXPECT_EQ(sum.pads, 11u);
  EXPECT_EQ(sum.empty_slots, 22u);
  EXPECT_EQ(sum.dropped, 33u);
  EXPECT_EQ(sum.total(), 66u);
  EXPECT_FALSE(sum.none());
  EXPECT_TRUE(SlotCounts{}.none());
}

/// As a repair leaves them: the entry that counts, twice.
TEST(Tally, OfTwoWithOneNumberTheNewestIsTheOneThatIsNotWrittenNext) {
  for (const std::uint64_t last : {1, 2, 3, 4}) {
    Tally<SystemPolicy> tally;
    for (std::uint64_t sequence = 1; sequence <= last; ++sequence)
      tally.write(sequence, sequence, {0, sequence, 0});
    auto& other = tally.entries[(last + 1) % 2];
    other.empty_slots.store(last);
    other.task.store(last);
    other.sequence.store(last);
    EXPECT_EQ(tally.newest(), static_cast<int>(last % 2));
    other.empty_slots.store(1000);  // a successor's first entry, cut short before its number
    EXPECT_EQ(tally.entries[tally.newest()].counts().empty_slots, last);
    tally.write(last + 1, last + 1, {0, last + 1, 0});
    EXPECT_EQ(tally.entries[tally.newest()].counts().empty_slots, last + 1);
  }
}

TEST(SlotCounts, WhatAReplicaHasDoneIsCountedButIsNoSlot) {
  SlotCounts counts;
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
