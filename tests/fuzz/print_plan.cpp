// Prints a plan as JSON: a seed of the fuzzers that read plans, with every field of today.

#include <cstdio>

#include "pipeline/plan/plan_json.h"
#include "pipeline/plan/planner/planner.h"
#include "tests/support/graph_builder.h"
#include "tests/support/plan_limits.h"

int main() {
  brigade::GraphBuilder graph = brigade::fashion_mnist_graph();
  const brigade::PlanResult result = brigade::plan_graph(graph.build(), brigade::small_machine());
  return std::puts(brigade::plan_to_json(result.plan).c_str()) < 0;
}
