#include "transports/attempt.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(Attempt, FindsNothingUnlessItSaysSo) {
  const Attempt<SystemPolicy> found;
  EXPECT_EQ(found.look, Look::blocked);
  EXPECT_EQ(found.blocked_on, nullptr);
}

}  // namespace
}  // namespace brigade
