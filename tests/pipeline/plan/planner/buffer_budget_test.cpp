#include "pipeline/plan/planner/buffer_budget.h"
#include "base/arithmetic.h"
#include "pipeline/plan/ring_layout.h"

#include <gtest/gtest.h>

#include <brigade/text.h>

namespace brigade {
namespace {

RingSlots ring_of(RingUser writer, std::vector<RingUser> readers, std::uint64_t slot_bytes,
                  std::uint64_t buffers = 0) {
  RingDemand demand;
  demand.writer = std::move(writer);
  demand.readers = std::move(readers);
  demand.slot_bytes = slot_bytes;
  demand.buffers = buffers;
  return size_ring(demand);
}

std::string sum_of(const RingSlots& ring) {
  std::string text = concat(ring.slots, " =");
  std::uint64_t slots = 0;
  for (const PlanTerm& term : ring.terms) {
    text += concat(" + ", term.slots, " ", term.what);
    slots += term.slots;
  }
  EXPECT_EQ(ring.slots, slots);
  return text;
}

TEST(Ring, IsASumWithALinePerTerm) {
  const RingSlots ring = ring_of({"augment", 2, 64}, {{"train", 1, 256}, {"test", 3, 32}}, 817);
  EXPECT_EQ(sum_of(ring),
            "1536 = + 128 being written by augment (2 x 64) + 256 being read by train (1 x 256) + "
            "96 being read by test (3 x 32) + 256 queued for train + 128 ahead of a slow sample + "
            "419 to work longer between wake-ups + 253 rounded up to a multiple of 256");
  EXPECT_EQ(ring.held, 736u);
}

TEST(Ring, HasRoomForWhatIsHeldAndSlackByTheBytesOfASlot) {
  struct Case {
    const char* name;
    RingUser writer;
    std::vector<RingUser> readers;
    std::uint64_t slot_bytes;
    std::uint64_t slots;
  };
  for (const Case& one : {
           Case{"large batches have no slack", {"a", 1, 256}, {{"b", 1, 256}}, 150528, 3 * 256},
           Case{"written slot by slot", {"a", 2, 1}, {{"b", 1, 256}}, 150528, 3 * 256},
           Case{"at most 1024 samples", {"a", 1, 1}, {{"b", 1, 1}}, 40, 1024},
           Case{"at most 32 tasks", {"a", 1, 64}, {{"b", 1, 64}}, 40, 32 * 64},
           Case{"at most a mebibyte", {"a", 1, 64}, {{"b", 1, 64}}, 1024, 1024},
           Case{"ahead of a slow sample", {"a", 8, 1}, {{"b", 1, 1}}, 600000, 8 + 1 + 1 + 8},
           Case{"of all tasks", {"a", 1, 50}, {{"b", 1, 250}, {"c", 1, 256}}, 800, 32000},
           Case{"read by nobody", {"a", 2, 64}, {}, 1 << 20, 128},
       }) {
    const RingSlots ring = ring_of(one.writer, one.readers, one.slot_bytes);
    EXPECT_EQ(ring.slots, one.slots) << one.name << ": " << sum_of(ring);
    EXPECT_EQ(ring.slots % ring.multiple, 0u) << one.name;
  }
}

TEST(Ring, BuffersReplaceTheSlackAndAreRaisedToWhatStagesHold) {
  const RingSlots four = ring_of({"a", 1, 64}, {{"b", 1, 256}}, 800, 4);
  EXPECT_EQ(four.slots, 1024u);
  EXPECT_FALSE(four.buffers_raised);
  EXPECT_EQ(four.terms.back().what, "requested by buffers: 4");
  const RingSlots one = ring_of({"a", 1, 64}, {{"b", 1, 256}}, 800, 1);
  EXPECT_TRUE(one.buffers_raised);
  EXPECT_EQ(one.slots, 768u);
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
  EXPECT_EQ(ring.terms.back().what, "for the longest path to a zip");
  demand.buffers = 2;
  EXPECT_TRUE(size_ring(demand).buffers_raised);
  EXPECT_EQ(size_ring(demand).slots, 88u);
  demand.readers.pop_back();
  EXPECT_EQ(size_ring(demand).slots, 24u) << "with one reader nobody keeps samples from it";
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
