#include "pipeline/plan/thread_budget.h"

#include <algorithm>

#include <brigade/text.h>
#include "base/arithmetic.h"

namespace brigade {
namespace {

std::uint64_t threads_of(const ValidStage& stage) {
  return std::max<std::uint64_t>(stage.threads, 1);
}

bool wants_cores(const ValidStage& stage) { return wants_cores(stage.kind, threads_of(stage)); }

/// Whether several of it would change what a run gives: it keeps state, numbers samples in the
/// order in which they come (a stream, a flat_map stage).
bool is_one_of_a_kind(const ValidStage& stage) {
  const auto& contract = stage.type->contract;
  const bool stream = stage.kind == StageKind::producer && !stage.type->indexed;
  return contract.stateful || contract.numbering == Numbering::flat_map || stream;
}

/// 0: auto.
std::uint64_t asked_replicas(const ValidStage& stage) {
  return stage.replicas == 0 && is_one_of_a_kind(stage) ? 1 : stage.replicas;
}

struct Taken {
  std::uint64_t cores = 0;
  std::uint64_t replicas = 0;
  std::uint64_t autos = 0;  ///< stages that share what is left
};

Taken taken_by_others(const ValidGraph& graph) {
  Taken taken;
  for (const ValidStage& stage : graph.stages) {
    const std::uint64_t replicas = asked_replicas(stage);
    if (replicas == 0) ++taken.autos;
    taken.replicas = add_saturating(taken.replicas, replicas);
    if (wants_cores(stage))
      taken.cores = add_saturating(taken.cores, multiply_saturating(replicas, threads_of(stage)));
  }
  return taken;
}

/// Even shares; the earlier stages get what cannot be divided.
std::uint64_t take_share(std::uint64_t& left, std::uint64_t threads, std::uint64_t sharing) {
  const std::uint64_t share = (left + sharing - 1) / sharing;
  const std::uint64_t taken = std::max<std::uint64_t>(share / threads, 1);
  left -= std::min(left, multiply_saturating(taken, threads));
  return taken;
}

ByStage<std::uint64_t> choose_replicas(const ValidGraph& graph, std::uint64_t cores) {
  Taken taken = taken_by_others(graph);
  std::uint64_t cores_left = cores - std::min(cores, taken.cores);
  const std::uint64_t most = kPlanReplicasMax;
  std::uint64_t replicas_left = most - std::min(most, taken.replicas);
  ByStage<std::uint64_t> replicas;
  for (const ValidStage& stage : graph.stages) {
    replicas.push_back(asked_replicas(stage));
    if (replicas.back() != 0) continue;
    const std::uint64_t allowed = std::max<std::uint64_t>(replicas_left / taken.autos, 1);
    replicas.back() = std::min(take_share(cores_left, threads_of(stage), taken.autos), allowed);
    replicas_left -= std::min(replicas_left, replicas.back());
    --taken.autos;
  }
  return replicas;
}

void check_count(const ValidGraph& graph, const ByStage<std::uint64_t>& replicas,
                 PlanProblems& problems) {
  std::uint64_t total = 0;
  StageNumber most = 0;
  for (const StageNumber s : replicas.numbers()) {
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

void check_threads(const ValidGraph& graph, const ByStage<std::uint64_t>& replicas,
                   std::uint64_t cores, Plan& plan, PlanProblems& problems) {
  std::uint64_t wanted = 0;
  std::uint64_t in_teams = 0;
  std::vector<std::string> terms;
  std::vector<std::string> team_terms;
  const ValidStage* largest = nullptr;
  for (const StageNumber s : replicas.numbers()) {
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

/// A file may have been written for another machine: cores that are missing here are left out, but
/// some must be there.
void check_cpus(const ValidStage& stage, const std::vector<int>& there, Plan& plan,
                PlanProblems& problems) {
  if (there.empty()) return;
  std::vector<int> missing;
  for (const int cpu : stage.cpus)
    if (std::find(there.begin(), there.end(), cpu) == there.end()) missing.push_back(cpu);
  if (missing.empty()) return;
  const std::string found = concat("this process may run on ", cpus_text(there));
  if (missing.size() < stage.cpus.size()) {
    plan.warnings.push_back(concat("stage ", quote(stage.name), ": cpus: ", cpus_text(missing),
                                   " are left out: ", found));
  } else {
    problems.push_back(
        problem_at(stage, concat("there are no cores ", cpus_text(stage.cpus), " (cpus:); ", found),
                   "write cores of these, or take cpus: away"));
  }
}

/// Runs of one machine keep off each other's cores.
void bind(const ValidStage& valid, const MachineLimits& limits, PlanStage& stage,
          PlanWarnings& warnings) {
  if (valid.cpus.empty()) {
    stage.cpus = own_cpus(limits);
  } else if (limits.local_world_size > 1) {
    warnings.push_back(concat("stage ", quote(valid.name), ": cpus: ", cpus_text(valid.cpus),
                              " are the same cores in each of the ", limits.local_world_size,
                              " runs of this machine"));
  }
}

}  // namespace

void share_cores(const ValidGraph& graph, const MachineLimits& limits, Plan& plan,
                 PlanProblems& problems) {
  const std::uint64_t cores = usable_cores(limits);
  const ByStage<std::uint64_t> replicas = choose_replicas(graph, cores);
  check_count(graph, replicas, problems);
  check_threads(graph, replicas, cores, plan, problems);

  plan.replicas = 0;
  for (const StageNumber s : replicas.numbers()) {
    PlanStage& stage = plan.stages[s];
    stage.replicas = static_cast<int>(std::min<std::uint64_t>(replicas[s], kPlanReplicasMax));
    stage.threads = static_cast<int>(std::min<std::uint64_t>(threads_of(graph.stages[s]), 4096));
    stage.first_replica = plan.replicas;
    plan.replicas += stage.replicas;
    check_cpus(graph.stages[s], limits.cpus, plan, problems);
    bind(graph.stages[s], limits, stage, plan.warnings);
  }
}

}  // namespace brigade
