#include <brigade/check.h>
#include <brigade/result.h>

#include <gtest/gtest.h>

#include <memory>
#include <type_traits>

namespace brigade {
namespace {

Result<int> parse(bool good) {
  if (!good) return Error{"expected a number, found \"x\""};
  return 42;
}

Result<void> check(bool good) {
  if (!good) return Error{"out of range"};
  return {};
}

Result<int> assign_twice(bool first, bool second) {
  BRIGADE_ASSIGN(const int a, parse(first));
  BRIGADE_ASSIGN(const int b, parse(second));
  return a + b;
}

Result<void> try_then(bool good, bool& reached) {
  BRIGADE_TRY(check(good));
  reached = true;
  return {};
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_TRUE(parse(true).ok());
  EXPECT_EQ(parse(true).value(), 42);
  EXPECT_EQ(*parse(true), 42);
  EXPECT_FALSE(parse(false));
  EXPECT_EQ(parse(false).error().message, "expected a number, found \"x\"");
}

TEST(Result, VoidHoldsNothingOrAnError) {
  EXPECT_TRUE(check(true));
  EXPECT_EQ(check(false).error().message, "out of range");
}

TEST(Result, AssignReturnsTheFirstErrorAndElseGoesOn) {
  EXPECT_EQ(assign_twice(true, true).value(), 84);
  EXPECT_FALSE(assign_twice(false, true).ok());
  EXPECT_FALSE(assign_twice(true, false).ok());
}

TEST(Result, TryReturnsTheErrorBeforeTheNextStatement) {
  bool reached = false;
  EXPECT_FALSE(try_then(false, reached).ok());
  EXPECT_FALSE(reached);
  EXPECT_TRUE(try_then(true, reached).ok());
  EXPECT_TRUE(reached);
}

TEST(Result, CarriesValuesThatOnlyMove) {
  auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(7); };
  BRIGADE_CHECK(make().ok());
  EXPECT_EQ(*make().value(), 7);
  auto pass = [&]() -> Result<int> {
    BRIGADE_ASSIGN(auto pointer, make());
    return *pointer;
  };
  EXPECT_EQ(pass().value(), 7);
}

TEST(ResultDeathTest, ValueOfAnErrorAbortsWithItsMessage) {
  EXPECT_DEATH(parse(false).value(), "expected a number");
  EXPECT_DEATH(check(false).value(), "out of range");
}

TEST(Error, WithinPutsTheContextInFront) {
  EXPECT_EQ(Error{"no such file"}.within("stage \"train\"").message,
            "stage \"train\": no such file");
}

TEST(CheckDeathTest, FalseConditionPrintsItsPlaceAndValuesAndAborts) {
  const int slots = 3;
  EXPECT_EXIT(BRIGADE_CHECK(slots == 4, slots, "slots"), testing::KilledBySignal(SIGABRT),
              "brigade: internal error: slots == 4 is false at .*result_test.cpp:[0-9]+: 3 slots");
}

TEST(Check, TrueConditionEvaluatesNoValues) {
  int evaluated = 0;
  BRIGADE_CHECK(true, ++evaluated);
  EXPECT_EQ(evaluated, 0);
}

TEST(Check, ConditionIsEvaluatedOnce) {
  int evaluated = 0;
  BRIGADE_CHECK(++evaluated == 1);
  EXPECT_EQ(evaluated, 1);
}

}  // namespace
}  // namespace brigade
