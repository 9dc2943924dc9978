#include "transports/epochs.h"
#include "transports/neighbour.h"
#include "transports/watermark.h"

#include <gtest/gtest.h>

#include "tests/support/line.h"
#include "transports/stop.h"

namespace brigade {
namespace {

/// source -> a stage with three slots for each sample -> sink. Two epochs, whose ends are recorded.
class Epochs : public testing::Test, protected support::LineControl {
 protected:
  static SharedShape fan_out(std::uint64_t ends) {
    SharedShape shape = support::line_shape(
        {{1, 1, 8, {}, true}, {1, 1, 24, {0}, true, false, 3}, {1, 1, 0, {1}, true}});
    shape.epoch_ends = {ends};
    return shape;
  }
  explicit Epochs(std::uint64_t ends = 2) : LineControl(fan_out(ends)) {}
  IndexSpaceEpochs<SystemPolicy> above() { return {control, 0}; }
  IndexSpaceEpochs<SystemPolicy> below() { return {control, 1}; }
};

TEST_F(Epochs, EndWhereTheSourceSaysAndBelowItAccordingly) {
  EXPECT_EQ(above().end(0), kNever);
  end_epoch(control, 0, 0, 4);
  EXPECT_EQ(above().end(0), 4u);
  EXPECT_EQ(below().end(0), 12u);
  EXPECT_EQ(below().end(1), kNever);
  EXPECT_EQ(control.index_spaces[0]->end.value, kNever);
}

TEST_F(Epochs, TheLastOneIsTheEndOfItsIndexSpaceAndOfThoseBelow) {
  end_epoch(control, 0, 0, 4);
  end_epoch(control, 0, 1, 8);
  EXPECT_EQ(control.index_spaces[0]->end.value, 8u);
  EXPECT_EQ(control.index_spaces[1]->end.value, 24u);
}

TEST_F(Epochs, AStopThatCameBeforeTheLastOneStands) {
  control.index_spaces[0]->end.value = 4;
  end_epoch(control, 0, 1, 8);
  EXPECT_EQ(control.index_spaces[0]->end.value, 4u);
}

TEST_F(Epochs, ArePassedOneByOneAndEmptyOnesTogether) {
  EXPECT_EQ(above().passed(100), 0u);
  end_epoch(control, 0, 0, 4);
  EXPECT_EQ(above().passed(3), 0u);
  EXPECT_EQ(above().passed(4), 1u);
  end_epoch(control, 0, 1, 4);
  EXPECT_EQ(above().passed(4), 2u);
  EXPECT_EQ(below().passed(11), 0u);
  EXPECT_EQ(below().passed(12), 2u);
}

class EpochsOfOneLength : public Epochs {
 protected:
  EpochsOfOneLength() : Epochs(0) {}
};

TEST_F(EpochsOfOneLength, FollowFromIt) {
  EXPECT_EQ(above().end(0), kNever);
  EXPECT_EQ(above().passed(100), 0u);
  set_end(control, 0, 3, 4, 2);
  EXPECT_EQ(above().end(0), 4u);
  EXPECT_EQ(above().end(1), 8u);
  EXPECT_EQ(below().end(1), 24u);
  EXPECT_EQ(above().passed(7), 1u);
  EXPECT_EQ(below().passed(24), 2u);
  EXPECT_EQ(above().end(kNever - 1), kNever);
}

TEST(NeighbourOfAWatermark, IsLookedAtAgainOnlyWhereItHadNotCome) {
  Watermark<SystemPolicy> watermark;
  Neighbour<SystemPolicy> input{&watermark};
  EXPECT_FALSE(input.has(1));
  watermark.level.value = 5;
  EXPECT_TRUE(input.has(4));
  watermark.level.value = 3;  // no watermark does that
  EXPECT_TRUE(input.has(5));
  EXPECT_FALSE(input.has(6));
}

}  // namespace
}  // namespace brigade
