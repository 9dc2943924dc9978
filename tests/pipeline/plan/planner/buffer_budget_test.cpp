#include "pipeline/plan/planner/buffer_budget.h"
#include "base/arithmetic.h"
#include "pipeline/plan/ring_layout.h"

#include <gtest/gtest.h>

#include <numeric>

namespace brigade {
namespace {

std::uint64_t sum(const RingSlots& ring) {
  std::uint64_t slots = 0;
  for (const PlanTerm& term : ring.terms) slots += term.slots;
  return slots;
}

RingSlots ring_of(RingUser writer, std::vector<RingUser> readers, std::uint64_t slot_bytes,
                  std::uint64_t buffers = 0) {
  RingDemand demand;
  demand.writer = std::move(writer);
  demand.readers = std::move(readers);
  demand.slot_bytes = slot_bytes;
  demand.buffers = buffers;
  return size_ring(demand);
}

TEST(Ring, IsASumWithALinePerTerm) {
  const RingSlots ring = ring_of({"augment", 2, 64}, {{"train", 1, 256}, {"test", 3, 32}}, 817);
  const std::vector<PlanTerm> expected = {{"being written by augment (2 x 64)", 128},
                                          {"being read by train (1 x 256)", 256},
                                          {"being read by test (3 x 32)", 96},
                                          {"queued for train", 256},
                                          {"ahead of a slow sample", 128},
                                          {"to work longer between wake-ups", 419},
                                          {"up to a multiple of 256", 253}};
  EXPECT_EQ(ring.terms, expected);
  EXPECT_EQ(ring.slots, 1536u);
  EXPECT_EQ(ring.held, 736u);
  EXPECT_EQ(ring.slots, sum(ring));
}

TEST(Ring, OfLargeBatchesHasNoSlack) {
  const RingSlots ring = ring_of({"load", 1, 256}, {{"train", 1, 256}}, 150528);
  EXPECT_EQ(ring.slots, 3u * 256);
  EXPECT_EQ(ring.terms.size(), 3u);
}

TEST(Ring, OfLargeBatchesWrittenSlotBySlotIsThreeBatches) {
  const RingSlots ring = ring_of({"decode", 2, 1}, {{"train", 1, 256}}, 150528);
  EXPECT_EQ(ring.slots, 3u * 256);
}

TEST(Ring, OfCheapSamplesHoldsAMebibyteOr32TasksOf1024Samples) {
  EXPECT_EQ(ring_of({"a", 1, 1}, {{"b", 1, 1}}, 40).slots, 1024u);
  const RingSlots small = ring_of({"a", 1, 64}, {{"b", 1, 64}}, 40);
  EXPECT_EQ(small.slots, 32u * 64);
  const RingSlots larger = ring_of({"a", 1, 64}, {{"b", 1, 64}}, 1024);
  EXPECT_EQ(larger.slots, 1024u);
}

TEST(Ring, LeavesOtherReplicasRoomAheadOfASlowSample) {
  const RingSlots ring = ring_of({"decode", 8, 1}, {{"flip", 1, 1}}, 600000);
  EXPECT_EQ(ring.slots, 8u + 1 + 1 + 8);
}

TEST(Ring, IsAMultipleOfEveryTaskSize) {
  const RingSlots ring = ring_of({"a", 1, 50}, {{"b", 1, 250}, {"c", 1, 256}}, 800);
  EXPECT_EQ(ring.multiple, 32000u);
  EXPECT_EQ(ring.slots, 32000u);
  EXPECT_EQ(sum(ring), 32000u);
}

TEST(Ring, BuffersReplaceTheSlackInTasksOfTheLargestUser) {
  const RingSlots ring = ring_of({"a", 1, 64}, {{"b", 1, 256}}, 800, 4);
  EXPECT_EQ(ring.slots, 1024u);
  EXPECT_FALSE(ring.buffers_raised);
  EXPECT_EQ(ring.terms.back().what, "asked for by buffers: 4");
}

TEST(Ring, BuffersBelowWhatStagesHoldAreRaised) {
  const RingSlots ring = ring_of({"a", 1, 64}, {{"b", 1, 256}}, 800, 1);
  EXPECT_TRUE(ring.buffers_raised);
  EXPECT_EQ(ring.slots, 768u);
}

TEST(Ring, HoldsTheLongestWayToAZip) {
  RingDemand demand;
  demand.writer.task = 8;
  demand.readers.resize(2, demand.writer);  // one of them zips what the other has made
  demand.slot_bytes = 600000;
  EXPECT_EQ(size_ring(demand).slots, 32u);
  demand.way_to_zip = 8 + 64 + 8;  // b, a stage with batches of 64, zip
  const RingSlots ring = size_ring(demand);
  EXPECT_EQ(ring.slots, 88u);
  EXPECT_EQ(ring.terms.back().what, "for the longest way to a zip");
  demand.buffers = 2;
  EXPECT_TRUE(size_ring(demand).buffers_raised);
  EXPECT_EQ(size_ring(demand).slots, 88u);
  demand.readers.pop_back();
  EXPECT_EQ(size_ring(demand).slots, 24u) << "with one reader nobody keeps samples from it";
}

TEST(Ring, NobodyReadsStillHasSlotsToWrite) {
  const RingSlots ring = ring_of({"a", 2, 64}, {}, 1 << 20);
  EXPECT_EQ(ring.slots, 128u);
}

TEST(Ring, OfAbsurdNumbersSticksAtTheTop) {
  const std::uint64_t huge = ~std::uint64_t{0};
  EXPECT_EQ(ring_of({"a", 256, huge / 2}, {{"b", 256, huge / 3}}, huge, huge).slots, huge);
}

TEST(SaturatingArithmetic, IsOrdinaryWhereItFits) {
  EXPECT_EQ(add_saturating(2, 3), 5u);
  EXPECT_EQ(multiply_saturating(6, 7), 42u);
  EXPECT_EQ(multiply_saturating(6, 0), 0u);
  EXPECT_EQ(round_up(10, 4), 12u);
  EXPECT_EQ(round_up(12, 4), 12u);
  EXPECT_EQ(round_up(0, 4), 0u);
  EXPECT_EQ(lcm_saturating(12, 18), 36u);
}

TEST(SaturatingArithmetic, SticksAtTheTop) {
  EXPECT_EQ(add_saturating(kSaturated - 1, 1), kSaturated);
  EXPECT_EQ(add_saturating(kSaturated, 1), kSaturated);
  EXPECT_EQ(multiply_saturating(std::uint64_t{1} << 32, std::uint64_t{1} << 32), kSaturated);
  EXPECT_EQ(round_up(kSaturated, 4096), kSaturated);
  EXPECT_EQ(round_up(kSaturated - 5, 4096), kSaturated);
  EXPECT_EQ(lcm_saturating(kSaturated, 2), kSaturated);
}

TEST(RingLayout, HeadersComeFirstAndArraysStartOnPages) {
  PlanRing ring;
  ring.slots = 100;
  ring.tensors = ring_tensors({{"image", u8, {28, 28, 1}}, {"label", i64, {}}});
  lay_out_ring(ring);
  ASSERT_EQ(ring.tensors.size(), 2u);
  EXPECT_EQ(ring.tensors[0].offset, 4096u);       // 100 headers of 32 bytes
  EXPECT_EQ(ring.tensors[1].offset, 4096u * 21);  // 78400 bytes: 19.1 pages
  EXPECT_EQ(ring.bytes, 4096u * 22);
}

TEST(RingLayout, DenseSlotsFollowEachOtherWithoutAGap) {
  const auto tensors = ring_tensors({{"x", f32, {3, 7}}});
  EXPECT_EQ(tensors[0].slot_bytes, 84u);
  EXPECT_EQ(tensors[0].slot_stride, 84u);
}

TEST(RingLayout, RaggedSlotsAreAsFarApartAsTheirBoundAndHaveAShapeArray) {
  const auto tensors = ring_tensors({{"image", u8, {up_to(10), up_to(10), 3}}, {"y", u8, {}}});
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_EQ(tensors[0].slot_bytes, 300u);
  EXPECT_EQ(tensors[0].slot_stride, 320u);
  EXPECT_EQ(tensors[1].type.name, "image.shape");
  EXPECT_EQ(tensors[1].type.dtype, i64);
  EXPECT_EQ(tensors[1].slot_stride, 24u);
  EXPECT_EQ(tensors[2].type.name, "y");
}

TEST(RingLayout, SlotBytesCountEveryArrayAndTheHeader) {
  EXPECT_EQ(ring_slot_bytes({}), 32u);
  EXPECT_EQ(ring_slot_bytes(ring_tensors({{"x", f32, {3, 7}}, {"y", u8, {}}})), 32u + 84 + 1);
}

TEST(RingLayout, WithoutTensorsHasHeadersOnly) {
  PlanRing ring;
  ring.slots = 129;
  lay_out_ring(ring);
  EXPECT_EQ(ring.bytes, 8192u);
}

TEST(RingLayout, SticksAtTheTop) {
  PlanRing ring;
  ring.slots = std::uint64_t{1} << 40;
  ring.tensors = ring_tensors({{"x", f64, {std::int64_t{1} << 40}}, {"y", u8, {}}});
  lay_out_ring(ring);
  EXPECT_EQ(ring.bytes, ~std::uint64_t{0});
}

}  // namespace
}  // namespace brigade
