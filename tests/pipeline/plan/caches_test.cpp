#include "pipeline/plan/caches.h"

#include <gtest/gtest.h>

#include "pipeline/plan/plan_check.h"
#include "pipeline/plan/planner/planner.h"
#include "tests/support/graph_builder.h"
#include "tests/support/plan_limits.h"

namespace brigade {
namespace {

const Ports kEightBytes{{"x", u8, {8}}};

/// a (`samples` of them) -> kept -> end, three epochs.
GraphBuilder cached(std::uint64_t samples, const Ports& tensors = kEightBytes) {
  GraphBuilder graph;
  graph.graph().epochs = 3;
  graph.producer("a", tensors).samples = samples;
  ValidStage& kept = graph.transform("kept", {"a"}, tensors);
  for (const TensorType& tensor : tensors.tensors) kept.passed.push_back({tensor.name, 0});
  graph.type_of("kept").contract.cache = true;
  graph.consumer("end", {"kept"});
  return graph;
}

PlanResult plan(GraphBuilder& graph) { return plan_graph(graph.build(), small_machine()); }

TEST(Caches, APlanWithOneIsChecked) {
  GraphBuilder graph = cached(100);
  const Plan whole = plan(graph).plan;
  ASSERT_TRUE(check_plan(whole).ok()) << check_plan(whole).error().message;
  const auto refuses = [&](void (*damage)(PlanStage&)) {
    Plan damaged = whole;
    damage(damaged.stages[1]);
    return !check_plan(damaged).ok();
  };
  EXPECT_TRUE(refuses([](PlanStage& stage) { stage.queues.pop_back(); }));
  EXPECT_TRUE(refuses([](PlanStage& stage) { stage.queues[1].inputs.clear(); }));
  EXPECT_TRUE(refuses([](PlanStage& stage) { stage.queues[1].window += 1; }));
  EXPECT_TRUE(refuses([](PlanStage& stage) { stage.cache.tensors.clear(); }));
  EXPECT_TRUE(refuses([](PlanStage& stage) { stage.cache.tensors[0].type.dtype = f64; }));
  EXPECT_TRUE(refuses([](PlanStage& stage) { stage.cache.bytes = 64; }));
  EXPECT_TRUE(refuses([](PlanStage& stage) { stage.indexed = false; }));
}

TEST(Caches, InAFileTakeNoMemoryThatMustBeThere) {
  GraphBuilder graph = cached(1'000'000, {{"x", u8, {10'000}}});
  graph.stage("kept").param_values = {{"file", ParamValue::scalar("/data/kept.cache")}};
  const PlanResult planned = plan(graph);
  ASSERT_TRUE(planned.ok()) << planned.problems[0].message;
  const PlanStage& kept = planned.plan.stages[1];
  EXPECT_EQ(cache_file(kept), "/data/kept.cache");
  EXPECT_EQ(memory_segment_bytes(kept), kept.ring.bytes);
  EXPECT_LT(planned.plan.memory_bytes, kept.cache.bytes);
}

TEST(Caches, AreReadAfterWhatIsAboveThem) {
  GraphBuilder graph = cached(100);
  graph.consumer("both", {"kept", "a"}, Join::epochs);
  const PlanProblems problems = plan(graph).problems;
  ASSERT_FALSE(problems.empty());
  EXPECT_NE(problems[0].message.find("join: epochs reads \"kept\" before \"a\""),
            std::string::npos);
}

TEST(Caches, InMemoryHaveNoFile) {
  GraphBuilder graph = cached(100);
  const PlanStage kept = plan(graph).plan.stages[1];
  EXPECT_EQ(cache_file(kept), "");
  EXPECT_EQ(memory_segment_bytes(kept), kept.segment_bytes());
}

}  // namespace
}  // namespace brigade
