#include "pipeline/run/supervisor/poison_tracker.h"

#include <csignal>

#include "pipeline/plan/sample_address.h"
#include "transports/limits.h"

namespace brigade {

bool is_own_fault(const Ending& ending) {
  if (ending.kind == Ending::Kind::exited) return true;
  if (ending.kind != Ending::Kind::killed) return false;
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS}) {
    if (ending.code == signal) return true;
  }
  return false;
}

bool PoisonTracker::is_last_chance(StageNumber stage, std::uint64_t at) const {
  if (at == kNever) return false;
  const auto faults = faults_.find({stage, at});
  const int deaths = faults == faults_.end() ? 0 : faults->second;
  return deaths + 1 >= plan_.stages[stage].poison_after;
}

PoisonTracker::Verdict PoisonTracker::died(StageNumber stage, std::uint64_t at, std::uint64_t level,
                                           bool own_fault) {
  Verdict verdict;
  if (at == kNever) return verdict;
  const Key key{stage, at};
  if (!own_fault) {
    Kills& kills = kills_[key];
    if (kills.level != level) kills = {level, 0};
    verdict.hopeless = ++kills.count >= kKillsWithoutProgress;
    return verdict;
  }
  const PlanStage& planned = plan_.stages[stage];
  verdict.deaths = ++faults_[key];
  if (verdict.deaths < planned.poison_after) return verdict;
  faults_.erase(key);
  if (!planned.batched) {
    verdict.poisoned = {at};
    return verdict;
  }
  const auto [queue, number] = SampleAddress::of(at);
  const std::uint64_t task = planned.queues[queue].task;
  const std::uint64_t first = number / task * task;
  for (std::uint64_t i = 0; i < task; ++i)
    verdict.poisoned.push_back(SampleAddress{queue, first + i}.word());
  return verdict;
}

}  // namespace brigade
