#include "pipeline/records/record_field.h"
#include "pipeline/records/ring_ports.h"
#include "pipeline/records/source_id.h"
#include "pipeline/records/staging_slots.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "pipeline/plan/ring_layout.h"
#include "tests/support/number_line.h"

namespace brigade {
namespace {

const TensorType kLeftBoxes{"boxes", f32, {up_to(4), 2}};

TEST(MakeField, OfASampleHasTheShapeOfTheType) {
  const Field field = make_field(kLeftBoxes, "left.boxes", false, 64);
  EXPECT_EQ(field.name, "left.boxes");
  EXPECT_EQ(field.dtype, f32);
  EXPECT_TRUE(field.ragged);
  EXPECT_EQ(field.shape, (Shape{4, 2}));
  EXPECT_EQ(field.bounds, field.shape);
}

TEST(MakeField, OfABatchHasItsSlotsInFront) {
  const Field field = make_field({"image", u8, {28, 28}}, "image", true, 64);
  EXPECT_FALSE(field.ragged);
  EXPECT_EQ(field.shape, (Shape{64, 28, 28}));
  EXPECT_EQ(field.sample_shape, (Shape{28, 28}));
  EXPECT_EQ(field.sample_bounds, field.sample_shape);
}

const TensorType kVaryingImage{"image", u8, {up_to(700), up_to(700), 3}};

std::string error_of(std::initializer_list<std::int64_t> sizes) {
  const Field field = make_field(kVaryingImage, "left.image", true, 64);
  const auto checked = check_shape(field, sizes.begin(), varying_sizes(kVaryingImage));
  return checked.ok() ? "" : checked.error().message;
}

TEST(ShapeCheck, BoundsAreBoundsAndSizesAreSizes) {
  EXPECT_EQ(varying_sizes(kVaryingImage), 0b011u);
  EXPECT_EQ(varying_sizes({"label", i64, {3}}), 0u);
  for (const auto& sizes : {std::array<std::int64_t, 3>{700, 700, 3}, {0, 1, 3}})
    EXPECT_EQ(error_of({sizes[0], sizes[1], sizes[2]}), "");
  EXPECT_EQ(error_of({1, 1, 2}),
            "tensor \"left.image\": expected the shape [<=700, <=700, 3] of its contract, found "
            "[1, 1, 2]");
  for (const auto& sizes : {std::array<std::int64_t, 3>{701, 1, 3}, {1, -1, 3}, {1, 1, 4}})
    EXPECT_NE(error_of({sizes[0], sizes[1], sizes[2]}), "");
}

TEST(ElementCount, IsTheProductOfTheSizes) {
  const std::int64_t sizes[] = {3, 5, 2};
  EXPECT_EQ(element_count(sizes, 3), 30u);
  EXPECT_EQ(element_count(sizes, 0), 1u);
}

/// Whether a byte of a shared megabyte is gone after a sample of `before` bytes and one of `now`.
bool gives_back(std::int64_t before, std::int64_t now, std::int64_t byte,
                std::uint64_t expected = 0) {
  constexpr std::size_t kBytes = 1 << 20;
  void* const memory =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  std::memset(memory, 1, kBytes);
  auto* const slot = static_cast<std::byte*>(memory);
  shrink_slot(slot, expected, 1, &before, &now, 1);
  const bool gone = slot[byte] == std::byte{0};
  munmap(memory, kBytes);
  return gone;
}

TEST(ShrinkSlot, GivesBackWhatASmallerSampleLeavesFreeWhereItIsMuch) {
  EXPECT_TRUE(gives_back(1 << 20, 8192, 12288));
  EXPECT_FALSE(gives_back(1 << 20, 8192, 8191));
  EXPECT_FALSE(gives_back(100'000, 8192, 12288));
  EXPECT_FALSE(gives_back(8192, 100'000, 104'096));
}

TEST(ShrinkSlot, KeepsWhatTheSlotIsExpectedToTake) {
  constexpr std::uint64_t kExpected = 512 << 10;
  EXPECT_FALSE(gives_back(1 << 20, 8192, (512 << 10) - 1, kExpected));
  EXPECT_TRUE(gives_back(1 << 20, 8192, 512 << 10, kExpected));
  EXPECT_FALSE(gives_back(512 << 10, 8192, 12288, kExpected));
  EXPECT_FALSE(gives_back(1 << 20, 900 << 10, 800 << 10, kExpected));
}

/// A producer with a dense and a ragged tensor; two slots are written and copied crosswise.
TEST(StagingSlots, AreCopiedToAnyPlaceOfTheRing) {
  GraphBuilder graph;
  graph.producer("feed", {support::kValue, {"text", u8, {up_to(100)}}});
  graph.consumer("sink", {"feed"});
  support::RunLine run(graph);
  PlanStage stage = run.stage("feed");
  stage.fan_out = 2;
  StagingSlots slots(run.plan(), stage, run.rings(), 0);

  slots.writer().begin(0);
  slots.writer().select(0);
  Outputs out = slots.writer().outputs();
  ASSERT_EQ(out.samples(), 2);
  for (std::int64_t slot : {0, 1}) {
    Outputs one = out.sample(slot);
    one["value"].as<std::int64_t>()[0] = 70 + slot;
    const auto text = one["text"].resize<std::uint8_t>({3 + slot}).value();
    std::fill(text.begin(), text.end(), static_cast<std::uint8_t>('a' + slot));
  }
  slots.writer().commit(0);
  const SlotRing& ring = run.ring("feed");
  const std::uint64_t last = ring.slots() - 1;
  slots.copy_to_ring(1, last);
  slots.copy_to_ring(0, last + 1);

  const auto value = [&](std::uint64_t number) {
    return *reinterpret_cast<const std::int64_t*>(ring.slot(0, number));
  };
  const auto text = [&](std::uint64_t number) {
    const auto size = *reinterpret_cast<const std::int64_t*>(ring.slot(2, number));
    return std::string(reinterpret_cast<const char*>(ring.slot(1, number)),
                       static_cast<std::size_t>(size));
  };
  EXPECT_EQ(value(last), 71);
  EXPECT_EQ(value(0), 70);
  EXPECT_EQ(text(last), "bbbb");
  EXPECT_EQ(text(0), "aaa");
}

const TensorType kImage{"image", u8, {3, 2}};
const TensorType kBoxes{"boxes", f32, {up_to(4), 2}};

PlanStage stage_of(const Ports& outputs) {
  PlanStage stage;
  stage.ring.tensors = ring_tensors(outputs);
  stage.has_ring = true;
  stage.queues.resize(1);
  return stage;
}

PlanInput input_of(StageNumber stage, const std::string& port, std::vector<std::string> tensors) {
  return {stage, port, std::move(tensors)};
}

TEST(PlanPorts, ShapesOfRaggedTensorsAreNoTensorsOfTheirOwn) {
  const PlanStage stage = stage_of({kBoxes, kImage});
  ASSERT_EQ(stage.ring.tensors.size(), 3u);
  EXPECT_EQ(array_index(stage.ring, "boxes.shape"), 1u);
  EXPECT_EQ(array_index(stage.ring, "image"), 2u);
  EXPECT_FALSE(is_shape_array(stage.ring, 0));
  EXPECT_TRUE(is_shape_array(stage.ring, 1));
  EXPECT_FALSE(is_shape_array(stage.ring, 2));
  EXPECT_EQ(own_outputs(stage).tensors, (std::vector<TensorType>{kBoxes, kImage}));
}

TEST(PlanPorts, WhatPassesIsNotItsOwn) {
  PlanStage stage = stage_of({kBoxes, kImage});
  stage.passes = {{"image", 0}};
  EXPECT_TRUE(is_passed(stage, "image"));
  EXPECT_FALSE(is_passed(stage, "boxes"));
  EXPECT_EQ(own_outputs(stage).tensors, std::vector<TensorType>{kBoxes});
}

TEST(PlanPorts, OfSeveralSourcesTheyAreNamedByTheirPorts) {
  Plan plan;
  plan.stages = {stage_of({kImage, kBoxes}), stage_of({kImage})};
  PlanStage reader = stage_of({});
  reader.has_ring = false;
  reader.queues[0].inputs = {input_of(0, "a", {"image", "boxes", "boxes.shape"})};
  EXPECT_EQ(input_ports(plan, reader).tensors, (std::vector<TensorType>{kImage, kBoxes}));
  reader.queues[0].inputs.push_back(input_of(1, "b", {"image"}));
  const Ports both = input_ports(plan, reader);
  ASSERT_EQ(both.tensors.size(), 3u);
  EXPECT_EQ(both.tensors[0].name, "a.image");
  EXPECT_EQ(both.tensors[2].name, "b.image");
  EXPECT_EQ(own_outputs(reader).tensors, std::vector<TensorType>{});
}

TEST(IdSource, OfZippedSourcesIsTheFirst) {
  GraphBuilder graph;
  graph.producer("left", {support::kValue});
  graph.producer("right", {support::kValue});
  graph.transform("below", {"right"}, {support::kValue});
  graph.consumer("end", {"below", "left"}, Join::zip);
  const support::RunLine run(graph);
  ASSERT_EQ(run.plan().index_spaces.size(), 1u);
  EXPECT_EQ(id_source(run.plan(), run.stage("end"), 0).name, "right");
  EXPECT_EQ(id_source(run.plan(), run.stage("below"), 0).name, "right");
  EXPECT_EQ(id_source(run.plan(), run.stage("left"), 0).name, "left");
}

}  // namespace
}  // namespace brigade
