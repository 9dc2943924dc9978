#include "transports/task_table.h"

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

TEST_F(FourWords, EveryTaskOfTheFirstRoundIsOpen) {
  for (std::uint64_t task = 0; task < 4; ++task) {
    EXPECT_EQ(see(task).state, TaskState::open) << task;
    EXPECT_FALSE(see(task).newer);
  }
}

TEST_F(FourWords, AnyLaterTaskIsOpenToo) {  // a resumed line starts in the middle
  EXPECT_EQ(see(1'000'003).state, TaskState::open);
}

TEST_F(FourWords, SaysWhoHasClaimedATask) {
  put(2, table_.claimed(2, 9));
  EXPECT_EQ(see(2).state, TaskState::claimed);
  EXPECT_EQ(see(2).owner, 9);
  put(2, table_.done(2, 9));
  EXPECT_EQ(see(2).state, TaskState::done);
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

TEST_F(FourWords, AReopenedTaskCanBeClaimedByAnybody) {
  put(2, table_.open(2));
  EXPECT_EQ(see(2).state, TaskState::open);
  std::uint64_t seen = table_.word(2).load();
  EXPECT_TRUE(table_.word(2).compare_exchange_strong(seen, table_.claimed(2, 3)));
}

}  // namespace
}  // namespace brigade
