#include "pipeline/plan/planner/memory_budget.h"

#include <gtest/gtest.h>

#include "pipeline/plan/plan_json.h"
#include "pipeline/plan/planner/planner.h"
#include "pipeline/records/shared_shape.h"
#include "tests/support/graph_builder.h"
#include "tests/support/plan_limits.h"
#include "tests/support/random_graph.h"

namespace brigade {
namespace {

/// Batches of 256 pictures of 224 x 224: 36.8 MiB each.
GraphBuilder pictures() {
  GraphBuilder graph;
  graph.producer("files", {{"file", i64, {}}});
  graph.transform("decode", {"files"}, {{"image", u8, {224, 224, 3}}}).batch = 256;
  graph.consumer("train", {"decode"}).batched = true;
  return graph;
}

PlanProblems problems_with(GraphBuilder graph, const MachineLimits& limits) {
  return plan_graph(graph.build(), limits).problems;
}

TEST(Memory, OfAPlanIsRingsControlAndScratch) {
  GraphBuilder graph = pictures();
  const Plan plan = plan_graph(graph.build(), small_machine()).plan;
  EXPECT_EQ(plan.memory_bytes,
            plan.stages[0].ring.bytes + plan.stages[1].ring.bytes + control_bytes_estimate(plan));
}

TEST(Memory, OfTheControlSegmentIsNeverAboveItsEstimate) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    GraphBuilder graph = RandomGraph(seed).make();
    MachineLimits limits = small_machine();
    limits.memory_available_bytes = kNoLimit;
    const PlanResult result = plan_graph(graph.build(), limits);
    if (!result.ok()) continue;
    EXPECT_LE(control_bytes<SystemPolicy>(shared_shape(result.plan, {})) +
                  plan_to_json(result.plan, -1).size(),
              control_bytes_estimate(result.plan));
  }
}

TEST(Memory, OfAnAbsurdGraphIsAProblemNotAnOverflow) {
  GraphBuilder graph = pictures();
  graph.stage("decode").buffers = ~std::uint64_t{0} / 2;
  EXPECT_FALSE(problems_with(graph, small_machine()).empty());
  MachineLimits unlimited;
  unlimited.descriptors_hard = 4096;
  EXPECT_FALSE(problems_with(graph, unlimited).empty());
}

TEST(Descriptors, OfADevicesMemoryAreThoseOfOneMoreRing) {
  Plan plan = plan_graph(pictures().build(), small_machine()).plan;
  const std::uint64_t needed = descriptors_needed(plan);
  plan.stages[1].ring.device_bytes = 1000;
  EXPECT_EQ(descriptors_needed(plan), needed + kDescriptorsPerRing);
}

TEST(ArraysToPin, OfWhatAStageUploadsAreTheNamedOnes) {
  GraphBuilder graph;
  graph.producer("files", {{"image", u8, {32, 32, 3}}, {"label", i64, {}}}).batch = 64;
  ValidStage& up = graph.transform("up", {"files"}, {{"image", u8, {32, 32, 3}}});
  up.batch = 64;
  up.batched = true;
  graph.consumer("train", {"up"});
  graph.type_of("up").contract.uploads = [](const void*) {
    return std::vector<std::string>{"image"};
  };
  const auto pinned = [&](bool device_memory) {
    graph.stage("up").device_memory = device_memory;
    const auto planned = plan_graph(graph.build(), small_machine());
    for (const auto& problem : planned.problems) ADD_FAILURE() << problem.message;
    return arrays_to_pin(planned.plan, planned.plan.stages[1]);
  };
  EXPECT_TRUE(pinned(false).empty());
  const std::vector<ReadArray> arrays = pinned(true);
  ASSERT_EQ(arrays.size(), 1u);
  EXPECT_EQ(arrays[0].source, StageNumber(0));
  EXPECT_EQ(arrays[0].array, 0u);
}

}  // namespace
}  // namespace brigade
