#include "transports/epoch_list.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

class Ends : public testing::Test {
 protected:
  EpochList<SystemPolicy>::Word words_[3] = {};
  EpochList<SystemPolicy> list_{words_, 3};
};

TEST_F(Ends, AreUnknownUntilTheyAreRecorded) {
  EXPECT_EQ(list_.end(0), kNever);
  EXPECT_EQ(list_.count(), 0u);
  list_.record(0, 64);
  EXPECT_EQ(list_.end(0), 64u);
  EXPECT_EQ(list_.end(1), kNever);
  EXPECT_EQ(list_.count(), 1u);
}

TEST_F(Ends, AnEmptyEpochEndsWhereTheOneBeforeItDid) {
  list_.record(0, 0);
  list_.record(1, 0);
  list_.record(2, 64);
  EXPECT_EQ(list_.end(0), 0u);
  EXPECT_EQ(list_.end(1), 0u);
  EXPECT_EQ(list_.count(), 3u);
}

TEST_F(Ends, BeyondTheLastEpochAreNone) {
  list_.record(2, 64);
  EXPECT_EQ(list_.end(3), kNever);
  EXPECT_EQ(list_.count(2), 3u);
  EXPECT_EQ(EpochList<SystemPolicy>().end(0), kNever);
}

}  // namespace
}  // namespace brigade
