#include "pipeline/plan/buffer_budget.h"

#include <gtest/gtest.h>

#include <numeric>

namespace brigade {
namespace {

std::uint64_t sum(const RingRows& ring) {
  std::uint64_t rows = 0;
  for (const PlanHolder& holder : ring.holders) rows += holder.rows;
  return rows;
}

RingRows ring_of(RingUser writer, std::vector<RingUser> readers, std::uint64_t row_bytes,
                 std::uint64_t buffers = 0) {
  RingDemand demand;
  demand.writer = std::move(writer);
  demand.readers = std::move(readers);
  demand.row_bytes = row_bytes;
  demand.buffers = buffers;
  return size_ring(demand);
}

TEST(Ring, IsASumWithALinePerHolder) {
  const RingRows ring = ring_of({"augment", 2, 64}, {{"train", 1, 256}, {"test", 3, 32}}, 817);
  const std::vector<PlanHolder> expected = {{"being written by augment (2 x 64)", 128},
                                            {"being read by train (1 x 256)", 256},
                                            {"being read by test (3 x 32)", 96},
                                            {"queued for train", 256},
                                            {"ahead of a slow sample", 128},
                                            {"to work longer between wake-ups", 419},
                                            {"up to a multiple of 256", 253}};
  EXPECT_EQ(ring.holders, expected);
  EXPECT_EQ(ring.rows, 1536u);
  EXPECT_EQ(ring.held, 736u);
  EXPECT_EQ(ring.rows, sum(ring));
}

TEST(Ring, OfLargeBatchesHasNoSlack) {
  const RingRows ring = ring_of({"load", 1, 256}, {{"train", 1, 256}}, 150528);
  EXPECT_EQ(ring.rows, 3u * 256);
  EXPECT_EQ(ring.holders.size(), 3u);
}

TEST(Ring, OfLargeBatchesWrittenRowByRowIsThreeBatches) {
  const RingRows ring = ring_of({"decode", 2, 1}, {{"train", 1, 256}}, 150528);
  EXPECT_EQ(ring.rows, 3u * 256);
}

TEST(Ring, OfCheapSamplesHoldsAMebibyteOr32Tasks) {
  const RingRows small = ring_of({"a", 1, 64}, {{"b", 1, 64}}, 40);
  EXPECT_EQ(small.rows, 32u * 64);
  const RingRows larger = ring_of({"a", 1, 64}, {{"b", 1, 64}}, 1024);
  EXPECT_EQ(larger.rows, 1024u);
}

TEST(Ring, LeavesOtherReplicasRoomAheadOfASlowSample) {
  const RingRows ring = ring_of({"decode", 8, 1}, {{"flip", 1, 1}}, 600000);
  EXPECT_EQ(ring.rows, 8u + 1 + 1 + 8);
}

TEST(Ring, IsAMultipleOfEveryTaskSize) {
  const RingRows ring = ring_of({"a", 1, 50}, {{"b", 1, 250}, {"c", 1, 256}}, 800);
  EXPECT_EQ(ring.multiple, 32000u);
  EXPECT_EQ(ring.rows, 32000u);
  EXPECT_EQ(sum(ring), 32000u);
}

TEST(Ring, BuffersReplaceTheSlackInTasksOfTheLargestUser) {
  const RingRows ring = ring_of({"a", 1, 64}, {{"b", 1, 256}}, 800, 4);
  EXPECT_EQ(ring.rows, 1024u);
  EXPECT_FALSE(ring.buffers_raised);
  EXPECT_EQ(ring.holders.back().what, "asked for by buffers: 4");
}

TEST(Ring, BuffersBelowWhatStagesHoldAreRaised) {
  const RingRows ring = ring_of({"a", 1, 64}, {{"b", 1, 256}}, 800, 1);
  EXPECT_TRUE(ring.buffers_raised);
  EXPECT_EQ(ring.rows, 768u);
}

TEST(Ring, HoldsTheLongestWayToAZip) {
  RingDemand demand;
  demand.writer.task = 8;
  demand.readers.resize(2, demand.writer);  // one of them zips what the other has made
  demand.row_bytes = 600000;
  EXPECT_EQ(size_ring(demand).rows, 32u);
  demand.way_to_zip = 8 + 64 + 8;  // b, a stage with batches of 64, zip
  const RingRows ring = size_ring(demand);
  EXPECT_EQ(ring.rows, 88u);
  EXPECT_EQ(ring.holders.back().what, "for the longest way to a zip");
  demand.buffers = 2;
  EXPECT_TRUE(size_ring(demand).buffers_raised);
  EXPECT_EQ(size_ring(demand).rows, 88u);
  demand.readers.pop_back();
  EXPECT_EQ(size_ring(demand).rows, 24u) << "with one reader nobody keeps samples from it";
}

TEST(Ring, NobodyReadsStillHasRowsToWrite) {
  const RingRows ring = ring_of({"a", 2, 64}, {}, 1 << 20);
  EXPECT_EQ(ring.rows, 128u);
}

TEST(Ring, OfAbsurdNumbersSticksAtTheTop) {
  const std::uint64_t huge = ~std::uint64_t{0};
  EXPECT_EQ(ring_of({"a", 256, huge / 2}, {{"b", 256, huge / 3}}, huge, huge).rows, huge);
}

}  // namespace
}  // namespace brigade
