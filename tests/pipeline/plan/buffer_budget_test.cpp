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

TEST(Ring, IsASumWithALinePerHolder) {
  const RingRows ring = size_ring({.writer = {"augment", 2, 64},
                                   .readers = {{"train", 1, 256}, {"test", 3, 32}},
                                   .row_bytes = 817});
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
  const RingRows ring =
      size_ring({.writer = {"load", 1, 256}, .readers = {{"train", 1, 256}}, .row_bytes = 150528});
  EXPECT_EQ(ring.rows, 3u * 256);
  EXPECT_EQ(ring.holders.size(), 3u);
}

TEST(Ring, OfLargeBatchesWrittenRowByRowIsThreeBatches) {
  const RingRows ring =
      size_ring({.writer = {"decode", 2, 1}, .readers = {{"train", 1, 256}}, .row_bytes = 150528});
  EXPECT_EQ(ring.rows, 3u * 256);
}

TEST(Ring, OfCheapSamplesHoldsAMebibyteOr32Tasks) {
  const RingRows small =
      size_ring({.writer = {"a", 1, 64}, .readers = {{"b", 1, 64}}, .row_bytes = 40});
  EXPECT_EQ(small.rows, 32u * 64);
  const RingRows larger =
      size_ring({.writer = {"a", 1, 64}, .readers = {{"b", 1, 64}}, .row_bytes = 1024});
  EXPECT_EQ(larger.rows, 1024u);
}

TEST(Ring, LeavesOtherReplicasRoomAheadOfASlowSample) {
  const RingRows ring =
      size_ring({.writer = {"decode", 8, 1}, .readers = {{"flip", 1, 1}}, .row_bytes = 600000});
  EXPECT_EQ(ring.rows, 8u + 1 + 1 + 8);
}

TEST(Ring, IsAMultipleOfEveryTaskSize) {
  const RingRows ring = size_ring(
      {.writer = {"a", 1, 50}, .readers = {{"b", 1, 250}, {"c", 1, 256}}, .row_bytes = 800});
  EXPECT_EQ(ring.multiple, 32000u);
  EXPECT_EQ(ring.rows, 32000u);
  EXPECT_EQ(sum(ring), 32000u);
}

TEST(Ring, BuffersReplaceTheSlackInTasksOfTheLargestUser) {
  const RingDemand demand{
      .writer = {"a", 1, 64}, .readers = {{"b", 1, 256}}, .row_bytes = 800, .buffers = 4};
  const RingRows ring = size_ring(demand);
  EXPECT_EQ(ring.rows, 1024u);
  EXPECT_FALSE(ring.buffers_raised);
  EXPECT_EQ(ring.holders.back().what, "asked for by buffers: 4");
}

TEST(Ring, BuffersBelowWhatStagesHoldAreRaised) {
  const RingRows ring = size_ring(
      {.writer = {"a", 1, 64}, .readers = {{"b", 1, 256}}, .row_bytes = 800, .buffers = 1});
  EXPECT_TRUE(ring.buffers_raised);
  EXPECT_EQ(ring.rows, 768u);
}

TEST(Ring, NobodyReadsStillHasRowsToWrite) {
  const RingRows ring = size_ring({.writer = {"a", 2, 64}, .readers = {}, .row_bytes = 1 << 20});
  EXPECT_EQ(ring.rows, 128u);
}

TEST(Ring, OfAbsurdNumbersSticksAtTheTop) {
  const std::uint64_t huge = ~std::uint64_t{0};
  EXPECT_EQ(size_ring({.writer = {"a", 256, huge / 2},
                       .readers = {{"b", 256, huge / 3}},
                       .row_bytes = huge,
                       .buffers = huge})
                .rows,
            huge);
}

}  // namespace
}  // namespace brigade
