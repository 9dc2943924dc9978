#include "base/check.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(CheckDeathTest, FalseConditionPrintsItsPlaceAndValuesAndAborts) {
  const int rows = 3;
  EXPECT_EXIT(BRIGADE_CHECK(rows == 4, rows, "rows"), testing::KilledBySignal(SIGABRT),
              "brigade: internal error: rows == 4 is false at .*check_test.cpp:[0-9]+: 3 rows");
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
