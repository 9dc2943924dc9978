#include "pipeline/process/death_ledger.h"

#include <csignal>

#include "pipeline/run/replica_context.h"

namespace brigade {

bool is_own_fault(const Ending& ending) {
  if (ending.kind == Ending::Kind::exited) return true;
  if (ending.kind != Ending::Kind::killed) return false;
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS}) {
    if (ending.code == signal) return true;
  }
  return false;
}

DeathLedger::Verdict DeathLedger::died(int stage, std::uint64_t at, std::uint64_t low,
                                       bool own_fault) {
  Verdict verdict;
  if (at == kNever) return verdict;
  const Key key{stage, at};
  if (!own_fault) {
    Kills& kills = kills_[key];
    if (kills.low != low) kills = {low, 0};
    verdict.hopeless = ++kills.count >= kKillsWithoutProgress;
    return verdict;
  }
  const PlanStage& planned = plan_.stages[static_cast<std::size_t>(stage)];
  verdict.deaths = ++faults_[key];
  if (verdict.deaths < planned.poison_after) return verdict;
  faults_.erase(key);
  if (!planned.batched) {
    verdict.poisoned = {at};
    return verdict;
  }
  const int lane = lane_of(at);
  const std::uint64_t task = planned.lanes[static_cast<std::size_t>(lane)].task;
  const std::uint64_t first = number_of(at) / task * task;
  for (std::uint64_t i = 0; i < task; ++i) verdict.poisoned.push_back(lane_number(lane, first + i));
  return verdict;
}

}  // namespace brigade
