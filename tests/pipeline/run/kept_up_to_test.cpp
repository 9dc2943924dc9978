#include "pipeline/run/kept_up_to.h"

#include <gtest/gtest.h>

#include "tests/support/cached_line.h"

namespace brigade {
namespace {

using support::kCachedTask;
using support::kSamples;

class Kept : public support::CachedLine {
 protected:
  void keep(std::uint64_t task) {
    produce();
    ASSERT_TRUE(work_->work(1, task * kCachedTask).ok());
  }
  /// The first number of epoch 0 whose sample is not among the first `kept`.
  static std::uint64_t first_missing(std::uint64_t kept) {
    const Permutation order(kSamples, 0, 0);
    std::uint64_t number = 0;
    while (number < kSamples && order(number) < kept) ++number;
    return number;
  }
};

TEST_F(Kept, IsNothingBeforeTheRunHasBegun) {
  keep(0);
  EXPECT_EQ((*up_to_)(), 0u);
}

TEST_F(Kept, IsWhatComesBeforeTheFirstSampleThatIsNotThere) {
  begin();
  EXPECT_EQ((*up_to_)(), 0u);
  for (std::uint64_t task = 0; task < 4; ++task) {
    keep(task);
    EXPECT_EQ((*up_to_)(), first_missing((task + 1) * kCachedTask)) << task;
  }
  EXPECT_GT(first_missing(4 * kCachedTask), 0u) << "this test can fail";
}

TEST_F(Kept, GoesNoFurtherThanAnybodyCanClaim) {
  set_end(run_->control(), 0, kSamples, kSamples, 1);
  set_end(run_->control(), 1, kSamples, kSamples, 1'000'000);
  for (std::uint64_t task = 0; task < 5; ++task) keep(task);
  EXPECT_EQ((*up_to_)(), 2 * run_->stage("kept").pool.rows);
}

TEST_F(Kept, BeginsAtTheMarkAfterARestart) {
  begin();
  run_->lane("kept", 0).mark->low.value =
      2 * kCachedTask;  // these have been given, and so were there
  EXPECT_EQ((*up_to_)(), 2 * kCachedTask);
}

}  // namespace
}  // namespace brigade
