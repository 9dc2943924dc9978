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

}  // namespace
}  // namespace brigade
