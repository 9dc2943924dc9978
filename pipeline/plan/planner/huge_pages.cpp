#include "pipeline/plan/planner/huge_pages.h"

#include <algorithm>

#include <brigade/text.h>
#include "base/arithmetic.h"
#include "base/units.h"
#include "pipeline/plan/planner/memory_budget.h"
#include "transports/limits.h"

namespace brigade {
namespace {

std::uint64_t runs_beside(const MachineLimits& limits) {
  return std::max<std::uint64_t>(limits.local_world_size, 1);
}

}  // namespace

std::uint64_t huge_bytes(const Plan& plan) {
  std::uint64_t bytes = 0;
  for (const PlanStage& stage : plan.stages)
    if (stage.ring.huge) bytes = add_saturating(bytes, stage.ring.bytes);
  return bytes;
}

std::string huge_pages_text(std::uint64_t bytes) {
  const std::uint64_t pages = bytes / kHugePageBytes;
  return concat(format_count(pages), pages == 1 ? " huge page of " : " huge pages of ",
                format_size(kHugePageBytes));
}

std::uint64_t usable_huge_pages(const MachineLimits& limits) {
  return limits.huge_pages_free / runs_beside(limits);
}

void check_huge_pages(const ValidGraph& graph, const MachineLimits& limits, const Plan& plan,
                      PlanProblems& problems) {
  const std::uint64_t bytes = huge_bytes(plan);
  const std::uint64_t pages = bytes / kHugePageBytes;
  const std::uint64_t usable = usable_huge_pages(limits);
  if (pages <= usable) return;
  const auto first = std::find_if(plan.stages.begin(), plan.stages.end(),
                                  [](const PlanStage& stage) { return stage.ring.huge; });
  std::vector<std::string> edges;
  for (const PlanStage& stage : plan.stages)
    if (stage.ring.huge)
      edges.push_back(concat(edge_text(plan, stage), " ", stage.ring.bytes / kHugePageBytes));
  const std::uint64_t runs = runs_beside(limits);
  const std::uint64_t missing = multiply_saturating(pages, runs) - limits.huge_pages_free;
  problems.push_back(problem_at(
      graph.stages[plan.stages.number_of(*first)],
      concat("the graph needs ", huge_pages_text(bytes), " (", join(edges, ", "), "), ",
             limits.huge_pages_free, " of ", limits.huge_pages, " are free",
             runs > 1 ? concat(" for ", runs, " runs") : "", ": ", missing, " are missing"),
      concat("reserve them as root, `sysctl vm.nr_hugepages=",
             add_saturating(limits.huge_pages, missing), "`, or omit `hugepages:`")));
}

}  // namespace brigade
