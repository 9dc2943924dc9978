#include "transports/slot_ring.h"

#include <gtest/gtest.h>

#include <vector>

namespace brigade {
namespace {

/// A ring of 16 slots without tensors.
class SlotRingHeaders : public testing::Test {
 protected:
  static constexpr std::uint64_t kSlots = 16;

  void write(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t number = first; number < first + count; ++number)
      *ring_.headers(number) = {{number, number, number, 0}, SlotState::full};
  }
  /// As one task each `task` samples from `first` on.
  void write_tasks(std::uint64_t first, std::uint64_t count, std::uint64_t task, bool in_order) {
    for (std::uint64_t begin = first; begin < first + count; begin += task) {
      write(begin, task);
      note_full(ring_, begin, task, in_order);
    }
  }
  std::uint64_t full_before(std::uint64_t number) { return ring_.headers(number)->full_before; }
  bool full(std::uint64_t first, std::uint64_t count) {
    return are_full(ring_.headers(first), count);
  }
  /// Whether are_full() looks at that header: what is wrong there without a word is seen.
  bool looks_at(std::uint64_t number, std::uint64_t first, std::uint64_t count) {
    SlotState& state = ring_.headers(number)->state;
    state = SlotState::empty;
    const bool seen = !full(first, count);
    state = SlotState::full;
    return seen;
  }
  std::uint64_t looks(std::uint64_t first, std::uint64_t count) {
    std::uint64_t looks = 0;
    for (std::uint64_t number = first; number < first + count; ++number)
      looks += looks_at(number, first, count) ? 1 : 0;
    return looks;
  }

  std::vector<SlotHeader> memory_ = std::vector<SlotHeader>(kSlots);
  SlotRing ring_{reinterpret_cast<std::byte*>(memory_.data()), kSlots, {}};
};

TEST_F(SlotRingHeaders, TheLastOneOfATaskSpeaksForAll) {
  write(0, 8);
  EXPECT_EQ(looks(0, 8), 8u);  // nobody has said anything
  for (const std::uint64_t begin : {0, 4}) note_full(ring_, begin, 4, false);
  EXPECT_EQ(full_before(3), 3u);
  EXPECT_EQ(full_before(7), 3u);
  EXPECT_TRUE(full(0, 8));
  EXPECT_EQ(looks(0, 8), 2u);
  EXPECT_TRUE(looks_at(3, 0, 8));
  EXPECT_EQ(looks(4, 4), 1u);
}

TEST_F(SlotRingHeaders, WhoWritesOneAnewTakesThatBack) {
  write_tasks(0, 8, 8, false);
  ring_.headers(2)->state = SlotState::empty;
  EXPECT_TRUE(full(0, 8)) << "so a header that stays would be believed";
  write(0, 8);  // who does the task again
  EXPECT_EQ(full_before(7), 0u);
  ring_.headers(2)->state = SlotState::empty;
  EXPECT_FALSE(full(0, 8));
  *ring_.headers(7) = {{7, 7, 7, 0}, SlotState::pad};
  EXPECT_FALSE(full(0, 8));
}

TEST_F(SlotRingHeaders, OneReplicasTasksAreOneRun) {
  write_tasks(0, 16, 1, true);
  EXPECT_EQ(full_before(15), 15u);
  EXPECT_EQ(looks(8, 8), 1u);
  write_tasks(0, 16, 1, false);  // of several: each speaks for its own
  EXPECT_EQ(full_before(15), 0u);
  EXPECT_EQ(looks(8, 8), 8u);
}

TEST_F(SlotRingHeaders, ARunBeginsBehindWhatIsNotFull) {
  write_tasks(0, 4, 2, true);
  write(4, 2);
  ring_.headers(4)->state = SlotState::empty;
  write_tasks(6, 10, 2, true);
  EXPECT_EQ(full_before(3), 3u);
  EXPECT_EQ(full_before(5), 0u);
  EXPECT_EQ(full_before(7), 2u) << "as its writer knows; the one before is FULL without a word";
  EXPECT_EQ(full_before(15), 10u);
  EXPECT_FALSE(full(0, 8));
  EXPECT_FALSE(full(4, 4));
  EXPECT_TRUE(full(8, 8));
  EXPECT_EQ(looks(8, 8), 1u);
}

TEST_F(SlotRingHeaders, TheFirstPartOfALargeTaskIsLookedAtOneByOne) {
  write_tasks(0, 16, 16, true);
  EXPECT_EQ(looks(0, 8), 8u);
  EXPECT_EQ(looks(8, 8), 1u);
}

TEST_F(SlotRingHeaders, WhatDoesNotFitIsLookedAtOneByOne) {
  write(0, 8);
  note_full(ring_, 5, 3, false);  // no part of 8
  EXPECT_EQ(looks(0, 8), 8u);
  note_full(ring_, 6, 2, false);  // those before say nothing
  EXPECT_TRUE(full(0, 8));
  EXPECT_EQ(looks(0, 8), 8u);
}

TEST_F(SlotRingHeaders, AnotherRoundsHeaderSaysNothing) {
  write_tasks(0, 16, 16, true);
  write_tasks(16, 16, 16, true);  // the one before is this task's own last
  EXPECT_EQ(full_before(31), 15u);
  write_tasks(40, 4, 4, true);  // a run that begins here: the one before is 23
  EXPECT_EQ(full_before(43), 3u);
  write_tasks(44, 4, 4, true);
  EXPECT_EQ(full_before(47), 7u);
}

TEST_F(SlotRingHeaders, ALongRunSaysWhatFits) {
  write(0, 8);
  ring_.headers(3)->full_before = 65533;
  note_full(ring_, 4, 4, true);
  EXPECT_EQ(full_before(7), 65535u);
  EXPECT_EQ(looks(0, 8), 1u);
}

}  // namespace
}  // namespace brigade
