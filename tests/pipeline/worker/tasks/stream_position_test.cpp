#include "pipeline/worker/tasks/stream_position.h"

#include <gtest/gtest.h>

#include "tests/support/number_line.h"

namespace brigade {
namespace {

/// A stream in 3 epochs, whose shared memory is written by hand.
class Place : public testing::Test {
 protected:
  Place() : run_(graph()) {}
  static GraphBuilder graph() {
    GraphBuilder graph;
    graph.graph().epochs = 3;
    graph.producer("feed", {support::kValue});
    graph.type_of("feed").indexed = false;
    graph.consumer("sink", {"feed"});
    return graph;
  }
  StreamPosition place() { return stream_position(run_.context("feed")).value(); }
  void publish(std::uint64_t level, const SlotHeader& last) {
    *run_.ring("feed").headers(level - 1) = last;
    run_.queue("feed").watermark->level.value = level;
  }

  support::RunLine run_;
};

TEST_F(Place, IsTheBeginningBeforeAnythingIsPublished) {
  EXPECT_EQ(place().epoch, 0u);
  EXPECT_EQ(place().index, 0u);
}

TEST_F(Place, FollowsTheLastSlotAndPaddingIsNoSample) {
  publish(64, {{63, 60, 60, 1}, SlotState::full});
  EXPECT_EQ(place().epoch, 1u);
  EXPECT_EQ(place().index, 61u);
  publish(64, {{63, 60, 0, 1}, SlotState::pad});
  EXPECT_EQ(place().index, 60u);
  EXPECT_TRUE(place().padding);
  publish(64, {{63, 60, 60, 1}, SlotState::empty});
  EXPECT_EQ(place().index, 61u);
}

TEST_F(Place, IsTheNextEpochOnceTheLastSlotOfOneIsPublished) {
  auto& ends = run_.control().epoch_ends[0];
  publish(64, {{63, 63, 63, 0}, SlotState::full});
  ends.record(0, 128);
  EXPECT_EQ(place().epoch, 0u);
  ends.record(0, 64);
  EXPECT_EQ(place().epoch, 1u);
  EXPECT_EQ(place().index, 0u);
  ends.record(1, 64);  // an empty one
  EXPECT_EQ(place().epoch, 2u);
}

TEST_F(Place, ASlotOfAnotherNumberIsAnErrorAndNotTheBeginning) {
  publish(64, {{0, 9, 9, 2}, SlotState::full});
  const auto lost = stream_position(run_.context("feed"));
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.error().message,
            "it cannot continue at its last position: the buffer of sample 63, its last output, "
            "holds sample 0; a stage of this graph wrote outside its outputs");
}

TEST_F(Place, OfOneOfSeveralReplicasIsWhatItHasGivenItself) {
  EXPECT_EQ(shared_stream_position(run_.context("feed")).index, 0u);
  SlotCounts counts;
  counts.samples_done = 5;
  run_.queue("feed").tallies[0].write(1, 0, counts);
  EXPECT_EQ(shared_stream_position(run_.context("feed")).index, 5u);
}

}  // namespace
}  // namespace brigade
