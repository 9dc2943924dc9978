#include "pipeline/plan/planner/thread_budget.h"

#include <gtest/gtest.h>

#include "tests/support/graph_builder.h"

namespace brigade {
namespace {

const Ports kLineSlot{{"x", u8, {8}}};

struct Shared {
  Plan plan;
  PlanProblems problems;
};

Shared share(GraphBuilder& builder, std::uint64_t cores) {
  const ValidGraph& graph = builder.build();
  Shared result;
  result.plan.stages.resize(graph.stages.size());
  share_cores(graph, {.cores_affinity = cores}, result.plan, result.problems);
  return result;
}

/// a -> b -> c -> d, the transforms b and c with the given replicas.
GraphBuilder line(std::uint64_t b, std::uint64_t c) {
  GraphBuilder graph;
  graph.producer("a", kLineSlot);
  graph.transform("b", {"a"}, kLineSlot).replicas = b;
  graph.transform("c", {"b"}, kLineSlot).replicas = c;
  graph.consumer("d", {"c"});
  return graph;
}

TEST(Replicas, MoreThan256AreAProblemOfTheLargestStage) {
  GraphBuilder graph = line(300, 2);
  const Shared shared = share(graph, 512);
  ASSERT_EQ(shared.problems.size(), 1u);
  EXPECT_EQ(shared.problems[0].stage, "b");
  EXPECT_EQ(shared.problems[0].message,
            "the graph has 304 replicas, 300 of them in this stage; expected at most 256");
}

TEST(Replicas, OfAnAbsurdNumberAreAProblemToo) {
  GraphBuilder graph = line(~std::uint64_t{0}, ~std::uint64_t{0});
  graph.stage("b").threads = ~std::uint64_t{0};
  EXPECT_FALSE(share(graph, 2).problems.empty());
}

}  // namespace
}  // namespace brigade
