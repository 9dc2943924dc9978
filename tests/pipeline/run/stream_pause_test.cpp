#include "pipeline/run/stream_pause.h"

#include <gtest/gtest.h>

#include "tests/support/number_line.h"

namespace brigade {
namespace {

class Pause : public testing::Test {
 protected:
  GraphBuilder graph_ = support::number_graph({});
  support::RunLine run_{graph_};
};

TEST_F(Pause, LastsAtMostAsLongAsItMayAndCountsSinceTheLastSample) {
  StreamPause pause(run_.context("numbers"));
  for (int i = 0; i < 3; ++i) pause.sleep(1'000'000'000);  // 50, 100, 200 us
  EXPECT_GE(pause.waited_ns(), 300'000);
  const std::int64_t before = pause.waited_ns();
  pause.reset();
  EXPECT_LT(pause.waited_ns(), before + 1'000'000'000);
  pause.sleep(0);
}

TEST_F(Pause, StartsSmallAgain) {
  StreamPause pause(run_.context("numbers"));
  for (int i = 0; i < 8; ++i) pause.sleep(1);
  EXPECT_LT(pause.waited_ns(), 8 * kStreamPauseLongestNs * 50);
  pause.reset();
  pause.sleep(kStreamPauseLongestNs);
  EXPECT_GE(pause.waited_ns(), kStreamPauseFirstNs);
}

}  // namespace
}  // namespace brigade
