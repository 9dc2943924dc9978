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

TEST(Memory, OfScratchIsCountedWhereEmptySlotsCanOccur) {
  GraphBuilder graph = pictures();
  graph.stage("decode").on_error = {true, 10, 0};
  const Plan plan = plan_graph(graph.build(), small_machine()).plan;
  EXPECT_EQ(scratch_bytes(plan, plan.stages[1]), 0u);  // takes samples: passes empty slots on
  EXPECT_EQ(scratch_bytes(plan, plan.stages[2]), 256u * (150528 + 32));
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

TEST(Memory, ThatIsMissingIsSaidPerEdge) {
  MachineLimits limits = small_machine();
  limits.memory_available_bytes = 64 << 20;
  const PlanProblems problems = problems_with(pictures(), limits);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].stage, "decode");
  EXPECT_EQ(problems[0].message,
            "the graph needs 110.8 MiB of memory, 64.0 MiB are there (MemAvailable): edge decode "
            "-> train needs 3 x 36.8 MiB = 110.3 MiB; edge files -> decode needs 32 x 10.0 KiB = "
            "320.0 KiB");
  EXPECT_EQ(problems[0].help, "make batch:, buffers: or replicas: smaller");
}

TEST(Memory, ThatTheCgroupLimitsIsSaid) {
  MachineLimits limits = small_machine();
  limits.cgroup_memory_limit_bytes = 128 << 20;
  limits.cgroup_memory_used_bytes = 32 << 20;
  const PlanProblems problems = problems_with(pictures(), limits);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].message.find("96.0 MiB are there (what the cgroup has left)"),
            std::string::npos)
      << problems[0].message;
}

TEST(Memory, AboveWhatTheGraphAllowsItselfIsAProblem) {
  GraphBuilder graph = pictures();
  graph.graph().memory_bytes_max = 100 << 20;
  const PlanProblems problems = problems_with(graph, small_machine());
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].message.find("100.0 MiB are there (memory:)"), std::string::npos);
}

TEST(Memory, OfOneFileIsLimitedByItself) {
  MachineLimits limits = small_machine();
  limits.file_bytes_max = 10 << 20;
  const PlanProblems problems = problems_with(pictures(), limits);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].message,
            "edge decode -> train needs 3 x 36.8 MiB = 110.3 MiB, a memory file may have 10.0 MiB "
            "(RLIMIT_FSIZE, `ulimit -f`)");
}

TEST(Memory, OfTheAddressSpaceIsLimitedToo) {
  MachineLimits limits = small_machine();
  limits.address_space_bytes_max = 200 << 20;
  EXPECT_TRUE(problems_with(pictures(), limits).empty());
  limits.address_space_used_bytes = 150 << 20;
  const PlanProblems problems = problems_with(pictures(), limits);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].message.find("RLIMIT_AS"), std::string::npos);
}

TEST(Memory, OfAnAbsurdGraphIsAProblemNotAnOverflow) {
  GraphBuilder graph = pictures();
  graph.stage("decode").buffers = ~std::uint64_t{0} / 2;
  EXPECT_FALSE(problems_with(graph, small_machine()).empty());
  MachineLimits unlimited;
  unlimited.descriptors_hard = 4096;
  EXPECT_FALSE(problems_with(graph, unlimited).empty());
}

TEST(Memory, NamesOnlyTheLargestEdges) {
  GraphBuilder graph;
  graph.producer("a", {{"x", u8, {1 << 20}}});
  for (const char* name : {"b", "c", "d", "e", "f"})
    graph.transform(name, {std::string(1, static_cast<char>(name[0] - 1))}, {{"x", u8, {1 << 20}}});
  graph.consumer("end", {"f"});
  MachineLimits limits = small_machine();
  limits.memory_available_bytes = 1 << 20;
  const PlanProblems problems = problems_with(graph, limits);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].message.find("; 3 smaller edges"), std::string::npos)
      << problems[0].message;
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

TEST(Descriptors, AreCountedPerReplicaAndRing) {
  GraphBuilder graph = pictures();
  EXPECT_EQ(descriptors_needed(plan_graph(graph.build(), small_machine()).plan),
            16u + 3 * 3 + 2 * 2);
}

TEST(Descriptors, ThatAreMissingAreAProblemOfTheGraph) {
  MachineLimits limits = small_machine();
  limits.descriptors_hard = 28;
  const PlanProblems problems = problems_with(pictures(), limits);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].mark.file, -1);
  EXPECT_EQ(problems[0].message,
            "the graph needs 29 file descriptors for its 3 replicas, 28 are allowed "
            "(RLIMIT_NOFILE, `ulimit -Hn`)");
}

TEST(Descriptors, ThatAreOpenAlreadyCount) {
  MachineLimits limits = small_machine();
  limits.descriptors_hard = 29;
  EXPECT_TRUE(problems_with(pictures(), limits).empty());
  limits.descriptors_used = 1;
  EXPECT_FALSE(problems_with(pictures(), limits).empty());
}

TEST(EdgeText, NamesEveryReaderOnce) {
  GraphBuilder graph;
  graph.producer("a", {{"x", u8, {8}}});
  graph.consumer("b", {"a"});
  graph.consumer("c", {"a", "a"}, Join::merge);
  const Plan plan = plan_graph(graph.build(), small_machine()).plan;
  EXPECT_EQ(edge_text(plan, plan.stages[0]), "a -> b, c");
}

}  // namespace
}  // namespace brigade
