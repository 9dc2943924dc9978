#include "pipeline/process/recovery.h"

#include <csignal>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "pipeline/plan/resume.h"
#include "pipeline/run/replica_context.h"
#include "transports/stop.h"

namespace brigade {

RecoveryBooks::RecoveryBooks(const Plan& plan, MemoryKills kills)
    : ledger(plan), memory_kills(std::move(kills)) {
  for (const PlanStage& stage : plan.stages) {
    for (int r = 0; r < stage.replicas; ++r) budgets.emplace_back(stage.restart);
  }
}

Recovery::Recovery(const Plan& plan, Control<SystemPolicy>& control, RecoveryBooks& books,
                   const RepairRules& rules)
    : plan_(plan), control_(control), books_(books), rules_(rules) {}

Recovery::Decision Recovery::died(const DeadReplica& dead, Death death, std::int64_t now_ns) {
  const PlanStage& stage = plan_.stages[static_cast<std::size_t>(dead.stage)];
  const bool killed = death.ending.kind == Ending::Kind::killed && death.ending.code == SIGKILL;
  death.lack_of_memory = killed && books_.memory_kills.explain_one();
  const DeathLedger::Verdict verdict = repair_after(dead, death);
  std::string text = death_text(death);
  if (verdict.hopeless) {
    return {Decision::Next::fail, 0,
            concat(text, "; ", format_times(kKillsWithoutProgress),
                   " a worker was killed over this sample and the stage got no further")};
  }
  const auto& quarantine = control_.stages[static_cast<std::size_t>(dead.stage)].quarantine;
  if (!verdict.poisoned.empty() && !quarantine.contains(verdict.poisoned.back())) {
    return {Decision::Next::fail, 0,
            concat(text, "; the quarantine is full: ", quarantine.size(),
                   " samples have ended their workers")};
  }
  if (!verdict.poisoned.empty()) {
    text += concat("; ", stage.batched ? "its batch" : "the sample", " has ended ", verdict.deaths,
                   verdict.deaths == 1 ? " worker" : " workers", " and goes into quarantine");
  }
  return decide(dead, death.ending, std::move(text), "started again", now_ns);
}

Recovery::Decision Recovery::not_started(const DeadReplica& dead, const std::string& why,
                                         std::int64_t now_ns) {
  return decide(dead, Ending{}, concat("cannot start again ", why), "tried again", now_ns);
}

DeathLedger::Verdict Recovery::repair_after(const DeadReplica& dead, const Death& death) {
  const std::uint64_t at = control_.replicas[dead.number].at.value.load();
  const auto& lanes = control_.stages[static_cast<std::size_t>(dead.stage)].lanes;
  const auto lane = at == kNever ? 0 : static_cast<std::size_t>(lane_of(at));
  const std::uint64_t low = lane < lanes.size() ? lanes[lane].mark->low.value.load() : 0;
  const bool own_fault = death.lack_of_memory || is_own_fault(death.ending);
  DeathLedger::Verdict verdict = books_.ledger.died(dead.stage, at, low, own_fault);
  put_right(dead.stage, dead.replica, verdict.poisoned);
  ReplicaCounters& counters = live_counters(control_, dead.number);
  counters.waiting = static_cast<std::uint64_t>(Waiting::no);
  counters.since_ns = 0;
  return verdict;
}

void Recovery::put_right(int stage, int replica, const std::vector<std::uint64_t>& poisoned) {
  repair(control_, stage, replica, poisoned, rules_);
}

Recovery::Decision Recovery::decide(const DeadReplica& dead, const Ending& ending, std::string text,
                                    std::string_view next_try, std::int64_t now_ns) {
  using What = Decision::Next;
  const PlanStage& stage = plan_.stages[static_cast<std::size_t>(dead.stage)];
  const RestartSpec& spec = stage.restart;
  // A stage that could not even open will not the next time; being killed is not its doing.
  if (!dead.was_ready && is_own_fault(ending)) return {What::fail, 0, text + " while it opened"};

  const RestartBudget::Decision budget =
      books_.budgets[static_cast<std::size_t>(dead.number)].died(ending, now_ns);
  const std::vector<std::string> forget = stages_that_forget(plan_);
  if (budget.restart && stage.saves && !forget.empty()) {
    return {What::fail, 0,
            concat(text, "; the run cannot go on from its checkpoint by itself, since ",
                   join(forget, ", "), " would lose what it keeps; `--resume` does so")};
  }
  if (budget.restart && stage.saves) {
    return {What::resume, now_ns + budget.delay_ns,
            concat(text, "; the run goes on from its last checkpoint (restart ", budget.used,
                   " of ", spec.burst, " within ", format_nanoseconds(spec.within_ns), ")")};
  }
  if (budget.restart) {
    return {What::restart, now_ns + budget.delay_ns,
            concat(text, "; ", next_try, ' ',
                   budget.delay_ns == 0 ? "at once"
                                        : concat("in ", format_nanoseconds(budget.delay_ns)),
                   " (restart ", budget.used, " of ", spec.burst, " within ",
                   format_nanoseconds(spec.within_ns), ")")};
  }
  if (covers(spec.policy, ending)) {
    text += concat("; it was started again ", format_times(spec.burst), " within ",
                   format_nanoseconds(spec.within_ns), " (`restart:`)");
  }
  const bool reserved = stage.lanes.front().fixed;  // nobody else may take its tasks
  if (spec.degrade && dead.others_left && !reserved) {
    // It will never see a stop, or the end of a stream's data: others must not wait for it.
    control_.replicas[dead.number].ack.value.store(1, std::memory_order_seq_cst);
    ring_everybody(control_);
    const auto domain = static_cast<std::size_t>(stage.lanes.front().domain);
    const bool stream = stage.kind == StageKind::producer && !stage.indexed;
    if (stream) end_if_all_acknowledged(control_, dead.stage, plan_.domains[domain].multiple);
    return {What::carry_on, 0, text + "; the other replicas carry on"};
  }
  return {What::fail, 0, std::move(text)};
}

}  // namespace brigade
