#include "base/numbered.h"

#include <gtest/gtest.h>

#include <string>

#include "transports/shape.h"

namespace brigade {
namespace {

template <class List, class Index>
concept IsIndexedBy = requires(List list, Index index) {
  list[index];
};
template <class A, class B>
concept AreCompared = requires(A a, B b) {
  a < b;
};
template <class To, class From>
concept IsMadeOf = requires(From from) {
  To(from);
};

TEST(Number, OfOneKindIsNoneOfAnother) {
  static_assert(IsIndexedBy<ByStage<int>, StageNumber>);
  static_assert(!IsIndexedBy<ByStage<int>, QueueNumber>);
  static_assert(!IsIndexedBy<ByStage<int>, std::size_t>);
  static_assert(!AreCompared<StageNumber, QueueNumber>);
  static_assert(!IsMadeOf<StageNumber, QueueNumber>);
  static_assert(!std::is_convertible_v<StageNumber, int>);
}

TEST(Number, CountsUpAndDown) {
  StageNumber number = -1;
  EXPECT_LT(number, StageNumber(0));
  EXPECT_EQ(++number, 0);
  EXPECT_EQ(number--, 0);
  EXPECT_EQ(number.value(), -1);
}

TEST(Numbered, GoesByTheNumbersOfItsElements) {
  ByStage<std::string> names = {"a", "b"};
  EXPECT_EQ(names[1], "b");
  EXPECT_EQ(names.number_of(names.back()), 1);
  EXPECT_EQ(names.next_number(), 2);
  EXPECT_TRUE(names.has(1));
  EXPECT_FALSE(names.has(2));
  EXPECT_FALSE(names.has(-1));
}

TEST(Numbered, SaysItsNumbersFromAnyOn) {
  const ByReplica<bool> four(4);
  std::vector<int> numbers;
  for (const int number : four.numbers(2)) numbers.push_back(number);
  EXPECT_EQ(numbers, (std::vector<int>{2, 3}));
  for (const int number : ByReplica<int>().numbers(1)) FAIL() << number;
}

}  // namespace
}  // namespace brigade
