#include "transports/low_water.h"

#include <gtest/gtest.h>

#include <thread>

namespace brigade {
namespace {

class FourTasksOfTwo : public testing::Test {
 protected:
  FourTasksOfTwo() { table_.initialise(); }
  void finish(std::uint64_t task) { table_.word(task).store(table_.done(task, 0)); }
  Advanced move() { return advance(mark_, table_, 2); }
  std::uint64_t low() { return mark_.low.value.load(); }

  Line<SystemPolicy> lines_[4];
  TaskTable<SystemPolicy> table_{lines_, 4};
  Mark<SystemPolicy> mark_;
};

TEST_F(FourTasksOfTwo, StandsStillBeforeTheFirstTaskIsDone) {
  EXPECT_EQ(move().from, move().to);
  finish(1);
  EXPECT_EQ(move().from, move().to);
  EXPECT_EQ(low(), 0u);
}

TEST_F(FourTasksOfTwo, MovesOverEveryTaskThatIsDone) {
  finish(0);
  finish(1);
  finish(3);
  const Advanced moved = move();
  EXPECT_EQ(moved.from, 0u);
  EXPECT_EQ(moved.to, 4u);
  EXPECT_EQ(low(), 4u);
  finish(2);
  EXPECT_EQ(move().to, 8u);
}

TEST_F(FourTasksOfTwo, StopsAtTheWordsOfThePreviousRound) {
  for (std::uint64_t task = 0; task < 4; ++task) finish(task);
  EXPECT_EQ(move().to, 8u);  // word 0 says DONE, but of task 0, not of 4
  EXPECT_EQ(low(), 8u);
}

TEST_F(FourTasksOfTwo, AClaimedTaskHoldsItBack) {
  finish(0);
  table_.word(1).store(table_.claimed(1, 0));
  finish(2);
  EXPECT_EQ(move().to, 2u);
}

TEST_F(FourTasksOfTwo, StartsAnywhere) {
  mark_.low.value = 1000;  // task 500, word 0
  finish(500);
  finish(501);
  EXPECT_EQ(move().from, 1000u);
  EXPECT_EQ(low(), 1004u);
}

TEST_F(FourTasksOfTwo, TwoFinishersAtOnceNeverLeaveItStanding) {
  for (std::uint64_t round = 0; round < 2000; ++round) {
    const auto half = [&](std::uint64_t which) {
      finish(2 * round + which);
      move();
    };
    std::thread other(half, 0);
    half(1);
    other.join();
    ASSERT_EQ(low(), 4 * (round + 1));
  }
}

}  // namespace
}  // namespace brigade
