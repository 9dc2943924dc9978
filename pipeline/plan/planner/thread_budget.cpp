#include "pipeline/plan/planner/thread_budget.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <brigade/text.h>
#include "base/arithmetic.h"
#include "pipeline/plan/planner/turns.h"

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

/// What works at the same time: always, and in one turn. One without turns has all stages.
struct Pool {
  ByStage<bool> stages;
  std::uint64_t cores_left = 0;
  std::uint64_t autos = 0;  ///< stages that share what is left
};

/// A pool for each turn. What other readers take in turns is counted as a whole.
std::vector<Pool> pools_of(const ValidGraph& graph, const Turns& turns, std::uint64_t cores) {
  std::vector<std::optional<Turn>> all;
  for (const std::optional<Turn>& turn : turns)
    if (turn && std::find(all.begin(), all.end(), turn) == all.end()) all.push_back(turn);
  if (all.empty()) all.emplace_back();
  std::vector<Pool> pools;
  for (const std::optional<Turn>& turn : all) {
    Pool pool{ByStage<bool>(turns.size()), cores};
    for (const StageNumber s : turns.numbers()) {
      pool.stages[s] = !turns[s] || turns[s] == turn || turns[s]->reader != turn->reader;
      if (!pool.stages[s]) continue;
      const ValidStage& stage = graph.stages[s];
      const std::uint64_t replicas = asked_replicas(stage);
      if (replicas == 0) ++pool.autos;
      if (wants_cores(stage))
        pool.cores_left -=
            std::min(pool.cores_left, multiply_saturating(replicas, threads_of(stage)));
    }
    pools.push_back(std::move(pool));
  }
  return pools;
}

/// Even shares, of the pool that has least to give; the earlier stages get what cannot be divided.
std::uint64_t take_share(std::vector<Pool>& pools, StageNumber stage, std::uint64_t threads) {
  std::uint64_t share = kSaturated;
  for (const Pool& pool : pools)
    if (pool.stages[stage])
      share = std::min(share, (pool.cores_left + pool.autos - 1) / pool.autos);
  const std::uint64_t taken = std::max<std::uint64_t>(share / threads, 1);
  for (Pool& pool : pools) {
    if (!pool.stages[stage]) continue;
    pool.cores_left -= std::min(pool.cores_left, multiply_saturating(taken, threads));
    --pool.autos;
  }
  return taken;
}

ByStage<std::uint64_t> choose_replicas(const ValidGraph& graph, const Turns& turns,
                                       std::uint64_t cores) {
  std::vector<Pool> pools = pools_of(graph, turns, cores);
  std::uint64_t autos = 0;
  std::uint64_t replicas_left = kPlanReplicasMax;
  for (const ValidStage& stage : graph.stages) {
    const std::uint64_t replicas = asked_replicas(stage);
    if (replicas == 0) ++autos;
    replicas_left -= std::min(replicas_left, replicas);
  }
  ByStage<std::uint64_t> replicas;
  for (const StageNumber s : graph.stages.numbers()) {
    replicas.push_back(asked_replicas(graph.stages[s]));
    if (replicas.back() != 0) continue;
    const std::uint64_t allowed = std::max<std::uint64_t>(replicas_left / autos, 1);
    replicas.back() = std::min(take_share(pools, s, threads_of(graph.stages[s])), allowed);
    replicas_left -= std::min(replicas_left, replicas.back());
    --autos;
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
                        " of them in this stage; expected at most ", kPlanReplicasMax),
                 "write a smaller replicas:"));
}

/// "2 x 4 in train": the term of a stage in a sum of threads.
std::string term(const ValidStage& stage, std::uint64_t replicas) {
  return concat(replicas, " x ", threads_of(stage), " in ", stage.name);
}

void check_threads(const ValidGraph& graph, const ByStage<std::uint64_t>& replicas,
                   const Turns& turns, std::uint64_t cores, Plan& plan, PlanProblems& problems) {
  ByStage<std::uint64_t> threads(replicas.size());
  ByStage<std::uint64_t> team_threads(replicas.size());
  for (const StageNumber s : replicas.numbers()) {
    const ValidStage& stage = graph.stages[s];
    if (!wants_cores(stage)) continue;
    threads[s] = multiply_saturating(replicas[s], threads_of(stage));
    if (threads_of(stage) > 1) team_threads[s] = threads[s];
  }
  const auto [wanted, working] = busiest(turns, threads);
  const auto [in_teams, teams] = busiest(turns, team_threads);
  std::vector<std::string> terms;
  std::vector<std::string> team_terms;
  const ValidStage* largest = nullptr;
  for (const StageNumber s : replicas.numbers()) {
    const ValidStage& stage = graph.stages[s];
    if (working[s] && threads[s] > 0) terms.push_back(term(stage, replicas[s]));
    if (!teams[s] || team_threads[s] == 0) continue;
    team_terms.push_back(term(stage, replicas[s]));
    if (largest == nullptr || threads_of(stage) > threads_of(*largest)) largest = &stage;
  }
  if (in_teams > cores && !graph.oversubscribe) {
    problems.push_back(problem_at(
        *largest,
        concat("replicas with several threads need ", in_teams, " cores (", join(team_terms, " + "),
               "), ", cores, cores == 1 ? " is available" : " are available"),
        "write smaller threads: or replicas:, or oversubscribe: true at the top level"));
  } else if (wanted > cores && !graph.oversubscribe) {
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
                                   " are ignored: ", found));
  } else {
    problems.push_back(
        problem_at(stage, concat("there are no cores ", cpus_text(stage.cpus), " (cpus:); ", found),
                   "write cores from this list, or omit cpus:"));
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
  const Turns turns = turns_of(graph);
  const ByStage<std::uint64_t> replicas = choose_replicas(graph, turns, cores);
  check_count(graph, replicas, problems);
  check_threads(graph, replicas, turns, cores, plan, problems);

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
