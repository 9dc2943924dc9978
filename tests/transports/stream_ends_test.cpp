#include "transports/stream_ends.h"

#include <gtest/gtest.h>

#include "tests/support/line.h"
#include "transports/stop.h"

namespace brigade {
namespace {

constexpr std::uint64_t kMultiple = 4;

/// A stream with `replicas` and `epochs`, whose L is four, and its reader.
class EndsOfAStream : public testing::Test, protected support::LineControl {
 protected:
  explicit EndsOfAStream(int replicas = 1, std::uint64_t epochs = 2)
      : LineControl(stream(replicas, epochs)) {}
  static SharedShape stream(int replicas, std::uint64_t epochs) {
    SharedShape shape =
        support::line_shape({{replicas, 1, 8, {}, replicas == 1}, {1, kMultiple, 0, {0}, true}});
    shape.epoch_ends = {epochs};
    return shape;
  }
  std::uint64_t end_of_epoch(std::uint64_t epoch) { return control.epoch_ends[0].at(epoch); }
  std::uint64_t end() { return control.index_spaces[0]->end.value; }
};

TEST_F(EndsOfAStream, ASuccessorSaysALastEndAgain) {
  control.epoch_ends[0].record(0, 4);
  control.epoch_ends[0].record(1, 8);  // and died
  StreamEnds<SystemPolicy> ends(control, 0, kMultiple, true);
  ASSERT_TRUE(ends.enter(6));
  EXPECT_EQ(ends.epoch(), 1u);
  EXPECT_TRUE(ends.is_padding(6));
  EXPECT_FALSE(ends.enter(8));
  EXPECT_EQ(end(), 8u);
}

// The end was found in the middle of a task, which died with it: its first samples are not
// published.
TEST_F(EndsOfAStream, ASuccessorTakesNothingForPaddingThatMayBeASample) {
  control.epoch_ends[0].record(0, 4);
  control.epoch_ends[0].record(1, 8);
  for (const bool after_padding : {false, true}) {  // that of the epoch before
    StreamEnds<SystemPolicy> ends(control, 0, kMultiple, after_padding);
    ASSERT_TRUE(ends.enter(4));
    EXPECT_FALSE(ends.is_padding(4));
    ends.end(5);
    EXPECT_TRUE(ends.is_padding(5));
  }
  StreamEnds<SystemPolicy> other(control, 0, kMultiple, false);
  ASSERT_TRUE(other.enter(4));
  other.end(4);  // now it has none: an end that was recorded stays
  EXPECT_EQ(end_of_epoch(1), 8u);
  EXPECT_TRUE(other.is_padding(7));
}

TEST_F(EndsOfAStream, OnlyAStopClosesABatchWhoseEndIsRecorded) {
  StreamEnds<SystemPolicy> ends(control, 0, kMultiple, false);
  ASSERT_TRUE(ends.enter(0));
  EXPECT_TRUE(ends.is_open(2));
  EXPECT_FALSE(ends.is_open(4));
  control.epoch_ends[0].record(0, 4);
  EXPECT_FALSE(ends.is_open(2));
  ask_stop(control);
  EXPECT_TRUE(ends.is_open(2));
}

class EndOfASharedStream : public EndsOfAStream {
 protected:
  EndOfASharedStream() : EndsOfAStream(2, 1) {}
  SharedStreamEnds<SystemPolicy> replica(int number) { return {control, 0, number, kMultiple}; }
};

TEST_F(EndOfASharedStream, ASuccessorHasNothingToGiveOnceItsPredecessorHasAcknowledged) {
  auto first = replica(0);
  first.end();
  EXPECT_FALSE(replica(0).is_over());
  first.acknowledge();
  EXPECT_TRUE(replica(0).is_over());
  EXPECT_FALSE(replica(1).is_over());
}

}  // namespace
}  // namespace brigade
