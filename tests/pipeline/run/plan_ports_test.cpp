#include "pipeline/run/plan_ports.h"

#include <gtest/gtest.h>

#include "pipeline/plan/pool_layout.h"

namespace brigade {
namespace {

const TensorType kImage{"image", u8, {3, 2}};
const TensorType kBoxes{"boxes", f32, {up_to(4), 2}};

PlanStage stage_of(const Ports& outputs) {
  PlanStage stage;
  stage.pool.tensors = pool_tensors(outputs);
  stage.has_pool = true;
  stage.lanes.resize(1);
  return stage;
}

PlanInput input_of(int stage, const std::string& port, std::vector<std::string> tensors) {
  return {stage, port, std::move(tensors)};
}

TEST(PlanPorts, ShapesOfRaggedTensorsAreNoTensorsOfTheirOwn) {
  const PlanStage stage = stage_of({kBoxes, kImage});
  ASSERT_EQ(stage.pool.tensors.size(), 3u);
  EXPECT_EQ(array_index(stage.pool, "boxes.shape"), 1u);
  EXPECT_EQ(array_index(stage.pool, "image"), 2u);
  EXPECT_FALSE(is_shape_array(stage.pool, 0));
  EXPECT_TRUE(is_shape_array(stage.pool, 1));
  EXPECT_FALSE(is_shape_array(stage.pool, 2));
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
  reader.has_pool = false;
  reader.lanes[0].inputs = {input_of(0, "a", {"image", "boxes", "boxes.shape"})};
  EXPECT_EQ(input_ports(plan, reader).tensors, (std::vector<TensorType>{kImage, kBoxes}));
  reader.lanes[0].inputs.push_back(input_of(1, "b", {"image"}));
  const Ports both = input_ports(plan, reader);
  ASSERT_EQ(both.tensors.size(), 3u);
  EXPECT_EQ(both.tensors[0].name, "a.image");
  EXPECT_EQ(both.tensors[2].name, "b.image");
  EXPECT_EQ(own_outputs(reader).tensors, std::vector<TensorType>{});
}

}  // namespace
}  // namespace brigade
