#include "base/clock.h"

#include <gtest/gtest.h>

#include "tests/support/fake_clock.h"

namespace brigade {
namespace {

using namespace std::chrono_literals;

TEST(SystemClock, NeverGoesBackAndDoesMove) {
  const SystemClock clock;
  const std::int64_t start = clock.now_ns();
  std::int64_t last = start;
  while (last == start) {
    const std::int64_t now = clock.now_ns();
    ASSERT_GE(now, last);
    last = now;
  }
  EXPECT_GE(monotonic_ns(), last);
}

TEST(FakeClock, MovesOnlyWhenTold) {
  FakeClock clock(5);
  EXPECT_EQ(clock.now_ns(), 5);
  EXPECT_EQ(clock.now_ns(), 5);
  clock.advance(2ms);
  EXPECT_EQ(clock.now_ns(), 2'000'005);
}

}  // namespace
}  // namespace brigade
