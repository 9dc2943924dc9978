#include "transports/neighbour.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

class NeighbourOfAMark : public testing::Test {
 protected:
  Mark<SystemPolicy> mark_;
};

TEST_F(NeighbourOfAMark, IsLookedAtAgainOnlyWhereItHadNotCome) {
  Neighbour<SystemPolicy> input{&mark_};
  EXPECT_FALSE(input.has(1));
  mark_.low.value = 5;
  EXPECT_TRUE(input.has(4));
  mark_.low.value = 3;  // no mark does that
  EXPECT_TRUE(input.has(5));
  EXPECT_FALSE(input.has(6));
}

TEST_F(NeighbourOfAMark, ThroughAFanOutBlocksUpToTheSampleOfTheLastRow) {
  Neighbour<SystemPolicy> input{&mark_, 2};
  mark_.low.value = 1;
  EXPECT_TRUE(input.has(2));
  EXPECT_FALSE(input.has(3));
  const Attempt<SystemPolicy> blocked = input.blocks(3, Cause::input);
  EXPECT_EQ(blocked.blocked_on, &mark_);
  EXPECT_EQ(blocked.until, 2u);
  mark_.low.value = blocked.until;
  EXPECT_TRUE(input.has(3));
}

TEST_F(NeighbourOfAMark, AsAReaderBlocksUntilItIsARoundBehind) {
  Neighbour<SystemPolicy> reader{&mark_, 1, 8};
  EXPECT_TRUE(reader.has(8));
  EXPECT_FALSE(reader.has(12));
  EXPECT_EQ(reader.blocks(12, Cause::memory).until, 4u);
}

}  // namespace
}  // namespace brigade
