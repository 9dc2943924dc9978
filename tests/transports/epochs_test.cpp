#include "transports/epochs.h"

#include <gtest/gtest.h>

#include "tests/support/line.h"
#include "transports/stop.h"

namespace brigade {
namespace {

/// source -> a stage with three rows for each sample -> sink. Two epochs, whose ends are recorded.
class Epochs : public testing::Test {
 protected:
  static GraphShape shape(std::uint64_t ends) {
    GraphShape shape = support::line_shape(
        {{1, 1, 8, {}, true}, {1, 1, 24, {0}, true, false, 3}, {1, 1, 0, {1}, true}});
    shape.epoch_ends = {ends};
    return shape;
  }
  explicit Epochs(std::uint64_t ends = 2) : shape_(shape(ends)) {}
  DomainEpochs<SystemPolicy> above() { return {control_, 0}; }
  DomainEpochs<SystemPolicy> below() { return {control_, 1}; }

  GraphShape shape_;
  support::LineMemory memory_{control_bytes<SystemPolicy>(shape_)};
  Control<SystemPolicy> control_ = create_control<SystemPolicy>(memory_.data(), shape_);
};

TEST_F(Epochs, EndWhereTheSourceSaysAndBelowItAccordingly) {
  EXPECT_EQ(above().end(0), kNever);
  end_epoch(control_, 0, 0, 4);
  EXPECT_EQ(above().end(0), 4u);
  EXPECT_EQ(below().end(0), 12u);
  EXPECT_EQ(below().end(1), kNever);
  EXPECT_EQ(control_.domains[0]->end.value, kNever);
}

TEST_F(Epochs, TheLastOneIsTheEndOfItsDomainAndOfThoseBelow) {
  end_epoch(control_, 0, 0, 4);
  end_epoch(control_, 0, 1, 8);
  EXPECT_EQ(control_.domains[0]->end.value, 8u);
  EXPECT_EQ(control_.domains[1]->end.value, 24u);
}

TEST_F(Epochs, AStopThatCameBeforeTheLastOneStands) {
  control_.domains[0]->end.value = 4;
  end_epoch(control_, 0, 1, 8);
  EXPECT_EQ(control_.domains[0]->end.value, 4u);
}

TEST_F(Epochs, ArePassedOneByOneAndEmptyOnesTogether) {
  EXPECT_EQ(above().passed(100), 0u);
  end_epoch(control_, 0, 0, 4);
  EXPECT_EQ(above().passed(3), 0u);
  EXPECT_EQ(above().passed(4), 1u);
  end_epoch(control_, 0, 1, 4);
  EXPECT_EQ(above().passed(4), 2u);
  EXPECT_EQ(below().passed(11), 0u);
  EXPECT_EQ(below().passed(12), 2u);
}

TEST_F(Epochs, EverybodyIsRung) {
  const auto before = control_.bells[2].rings.load();
  end_epoch(control_, 0, 0, 0);
  EXPECT_GT(control_.bells[2].rings.load(), before);
}

class EpochsOfOneLength : public Epochs {
 protected:
  EpochsOfOneLength() : Epochs(0) {}
};

TEST_F(EpochsOfOneLength, FollowFromIt) {
  EXPECT_EQ(above().end(0), kNever);
  EXPECT_EQ(above().passed(100), 0u);
  set_end(control_, 0, 3, 4, 2);
  EXPECT_EQ(above().end(0), 4u);
  EXPECT_EQ(above().end(1), 8u);
  EXPECT_EQ(below().end(1), 24u);
  EXPECT_EQ(above().passed(7), 1u);
  EXPECT_EQ(below().passed(24), 2u);
  EXPECT_EQ(above().end(kNever - 1), kNever);
}

}  // namespace
}  // namespace brigade
