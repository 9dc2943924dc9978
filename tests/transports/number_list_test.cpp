#include "transports/number_list.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace brigade {
namespace {

using List = NumberList<SystemPolicy>;

TEST(NumberList, HoldsWhatWasAppendedOnceInThatOrder) {
  List::Word entries[3]{};
  List list(entries, 3);
  EXPECT_TRUE(list.empty());
  EXPECT_TRUE(list.append(0));
  EXPECT_TRUE(list.append(42));
  EXPECT_TRUE(list.append(0));
  EXPECT_EQ(list.size(), 2u);
  EXPECT_EQ(list.at(0), 0u);
  EXPECT_EQ(list.at(1), 42u);
  EXPECT_TRUE(list.contains(0));
  EXPECT_TRUE(list.contains(42));
  EXPECT_FALSE(list.contains(1));
  EXPECT_FALSE(list.empty());
}

TEST(NumberList, SaysWhenItIsFull) {
  List::Word entries[2]{};
  List list(entries, 2);
  EXPECT_TRUE(list.append(5));
  EXPECT_TRUE(list.append(6));
  EXPECT_FALSE(list.append(7));
  EXPECT_TRUE(list.append(6));  // it is there
  EXPECT_FALSE(list.contains(7));
  EXPECT_EQ(list.size(), 2u);
}

TEST(NumberList, OfNoCapacityIsEmptyAndFull) {
  List list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.size(), 0u);
  EXPECT_FALSE(list.contains(0));
  EXPECT_FALSE(list.append(0));
}

TEST(NumberList, AppendersAtOnceLoseNothingAndRepeatNothing) {
  std::vector<List::Word> entries(400);
  List list(entries.data(), entries.size());
  const auto append = [&](std::uint64_t first) {
    for (std::uint64_t i = 0; i < 200; ++i) EXPECT_TRUE(list.append(first + i));
  };
  std::thread other(append, 100);  // the ranges overlap
  append(0);
  other.join();
  EXPECT_EQ(list.size(), 300u);
  for (std::uint64_t i = 0; i < 300; ++i) EXPECT_TRUE(list.contains(i));
}

/// As the ends of epochs are written, by one source.
class Recorded : public testing::Test {
 protected:
  List::Word words_[3] = {};
  List list_{words_, 3};
};

TEST_F(Recorded, EntriesAreUnknownUntilTheyAreWritten) {
  EXPECT_EQ(list_.at(0), kNever);
  EXPECT_EQ(list_.size(), 0u);
  list_.record(0, 64);
  EXPECT_EQ(list_.at(0), 64u);
  EXPECT_EQ(list_.at(1), kNever);
  EXPECT_EQ(list_.size(), 1u);
}

TEST_F(Recorded, ANumberMayComeAgain) {
  list_.record(0, 0);
  list_.record(1, 0);
  list_.record(2, 64);
  EXPECT_EQ(list_.at(0), 0u);
  EXPECT_EQ(list_.at(1), 0u);
  EXPECT_EQ(list_.size(), 3u);
}

TEST_F(Recorded, BeyondTheLastEntryIsNone) {
  list_.record(2, 64);
  EXPECT_EQ(list_.at(3), kNever);
  EXPECT_EQ(list_.size(2), 3u);
  EXPECT_EQ(List().at(0), kNever);
}

}  // namespace
}  // namespace brigade
