#include "pipeline/plan/thread_budget.h"

#include <algorithm>

#include "base/text.h"
#include "pipeline/plan/arithmetic.h"

namespace brigade {
namespace {

std::uint64_t threads_of(const ValidStage& stage) {
  return std::max<std::uint64_t>(stage.threads, 1);
}

bool wants_cores(const ValidStage& stage) {
  return stage.kind == StageKind::transform || threads_of(stage) > 1;
}

/// 0: auto. A stage that numbers its outputs freely is one.
std::uint64_t asked_replicas(const ValidStage& stage) {
  const bool free = stage.type->contract.numbering == Numbering::free;
  return free && stage.replicas == 0 ? 1 : stage.replicas;
}

std::vector<std::uint64_t> choose_replicas(const ValidGraph& graph, std::uint64_t cores) {
  std::uint64_t taken = 0;
  std::uint64_t sharing = 0;
  for (const ValidStage& stage : graph.stages) {
    if (asked_replicas(stage) == 0) {
      ++sharing;
    } else if (wants_cores(stage)) {
      taken = add_saturating(taken, multiply_saturating(asked_replicas(stage), threads_of(stage)));
    }
  }
  std::uint64_t left = cores - std::min(cores, taken);
  std::vector<std::uint64_t> replicas;
  for (const ValidStage& stage : graph.stages) {
    replicas.push_back(asked_replicas(stage));
    if (replicas.back() != 0) continue;
    const std::uint64_t share = (left + sharing - 1) / sharing;
    replicas.back() = std::max<std::uint64_t>(share / threads_of(stage), 1);
    left -= std::min(left, replicas.back() * threads_of(stage));
    --sharing;
  }
  return replicas;
}

void check_count(const ValidGraph& graph, const std::vector<std::uint64_t>& replicas,
                 PlanProblems& problems) {
  std::uint64_t total = 0;
  std::size_t most = 0;
  for (std::size_t s = 0; s < replicas.size(); ++s) {
    total = add_saturating(total, replicas[s]);
    if (replicas[s] > replicas[most]) most = s;
  }
  if (total <= kPlanReplicasMax) return;
  problems.push_back(
      problem_at(graph.stages[most],
                 concat("the graph has ", total, " replicas, ", replicas[most],
                        " of them in this stage; at most ", kPlanReplicasMax, " are possible"),
                 "write a smaller replicas:"));
}

/// "2 x 4 in train": the term of a stage in a sum of threads.
std::string term(const ValidStage& stage, std::uint64_t replicas) {
  return concat(replicas, " x ", threads_of(stage), " in ", stage.name);
}

void check_threads(const ValidGraph& graph, const std::vector<std::uint64_t>& replicas,
                   std::uint64_t cores, Plan& plan, PlanProblems& problems) {
  std::uint64_t wanted = 0;
  std::uint64_t in_teams = 0;
  std::vector<std::string> terms;
  std::vector<std::string> team_terms;
  const ValidStage* largest = nullptr;
  for (std::size_t s = 0; s < replicas.size(); ++s) {
    const ValidStage& stage = graph.stages[s];
    if (!wants_cores(stage)) continue;
    const std::uint64_t threads = multiply_saturating(replicas[s], threads_of(stage));
    wanted = add_saturating(wanted, threads);
    terms.push_back(term(stage, replicas[s]));
    if (threads_of(stage) == 1) continue;
    in_teams = add_saturating(in_teams, threads);
    team_terms.push_back(terms.back());
    if (largest == nullptr || threads_of(stage) > threads_of(*largest)) largest = &stage;
  }
  if (in_teams > cores && !graph.oversubscribe) {
    problems.push_back(problem_at(
        *largest,
        concat("replicas with several threads want ", in_teams, " cores (", join(team_terms, " + "),
               "), ", cores, cores == 1 ? " is there" : " are there"),
        "write smaller threads: or replicas:, or oversubscribe: true at the top level"));
  } else if (wanted > cores) {
    plan.warnings.push_back(concat(wanted, " threads (", join(terms, " + "), ") share ", cores,
                                   cores == 1 ? " core" : " cores"));
  }
}

}  // namespace

void share_cores(const ValidGraph& graph, const MachineLimits& limits, Plan& plan,
                 PlanProblems& problems) {
  const std::uint64_t cores = usable_cores(limits);
  const std::vector<std::uint64_t> replicas = choose_replicas(graph, cores);
  check_count(graph, replicas, problems);
  check_threads(graph, replicas, cores, plan, problems);

  plan.replicas = 0;
  for (std::size_t s = 0; s < replicas.size(); ++s) {
    PlanStage& stage = plan.stages[s];
    stage.replicas = static_cast<int>(std::min<std::uint64_t>(replicas[s], kPlanReplicasMax));
    stage.threads = static_cast<int>(std::min<std::uint64_t>(threads_of(graph.stages[s]), 4096));
    stage.first_replica = plan.replicas;
    plan.replicas += stage.replicas;
  }
}

}  // namespace brigade
