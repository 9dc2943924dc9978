#include "pipeline/run/supervisor/recovery.h"

#include <csignal>
#include <utility>

#include <brigade/text.h>
#include "base/units.h"
#include "pipeline/plan/replica_table.h"
#include "pipeline/plan/sample_address.h"
#include "pipeline/report/counters.h"
#include "pipeline/state/resume_numbers.h"
#include "transports/stop.h"

namespace brigade {
namespace {

/// The run ends. `reason`: with what stands in front of it in the line.
Recovery::Decision fails(Event event, std::string reason) {
  event.next = EventNext::fail;
  event.level = EventLevel::error;
  event.reason = std::move(reason);
  return {event.next, 0, std::move(event)};
}

/// `death`: by the last worker that the samples have ended.
Event quarantined_by(const Event& death) {
  Event event;
  event.kind = EventKind::quarantined;
  event.level = EventLevel::debug;
  event.stage = death.stage;
  event.sample = death.sample;
  event.deaths = death.deaths;
  event.samples = death.samples;
  return event;
}

}  // namespace

RecoveryTallies::RecoveryTallies(const Plan& plan, MemoryKills kills)
    : poison_tracker(plan), memory_kills(std::move(kills)) {
  const ReplicaTable replicas(plan);
  for (const int number : replicas.numbers()) budgets.emplace_back(replicas.stage(number).restart);
}

Recovery::Recovery(const Plan& plan, Control<SystemPolicy>& control, RecoveryTallies& tallies,
                   const RepairRules& rules)
    : plan_(plan), control_(control), tallies_(tallies), rules_(rules) {}

Recovery::Decision Recovery::died(const DeadReplica& dead, FailureReport death,
                                  std::int64_t now_ns) {
  const InFlight in_flight = in_flight_of(dead);
  // Poison is in quarantine before its task is open again. No other verdict is waited for.
  const bool last_chance = tallies_.poison_tracker.is_last_chance(dead.stage, in_flight.at);
  ReplicaCounters& counters = live_counters(control_, dead.number);
  counters.waiting = static_cast<std::uint64_t>(Waiting::no);
  counters.since_ns = 0;
  PoisonTracker::Verdict verdict;
  if (last_chance) verdict = judge(dead, in_flight, death);
  repair(control_, dead.stage, dead.replica, verdict.poisoned, rules_);
  if (!last_chance) verdict = judge(dead, in_flight, death);
  if (!dead.is_missed) return {Decision::Next::nothing, 0, {}};
  Event event = event_of(death);
  if (verdict.hopeless)
    return fails(std::move(event),
                 concat("; a worker was killed on this sample ",
                        format_times(kKillsWithoutProgress), " without progress of the stage"));
  const auto& quarantine = control_.stages[dead.stage].quarantine;
  if (!verdict.poisoned.empty() && !quarantine.contains(verdict.poisoned.back()))
    return fails(std::move(event), concat("; the quarantine is full: ", quarantine.size(),
                                          " samples have killed their workers"));
  event.deaths = verdict.deaths;
  event.samples = verdict.poisoned.size();
  Event quarantined;
  if (event.samples > 0) quarantined = quarantined_by(event);
  Decision decision = decide(dead, death.ending, std::move(event), now_ns);
  decision.quarantined = std::move(quarantined);
  return decision;
}

Recovery::Decision Recovery::not_started(const DeadReplica& dead, const std::string& why,
                                         std::int64_t now_ns) {
  Event event;
  event.kind = EventKind::not_started;
  event.level = EventLevel::warning;
  event.stage = plan_.stages[dead.stage].name;
  event.replica = dead.replica;
  event.message = why;
  return decide(dead, Ending{}, std::move(event), now_ns);
}

Recovery::InFlight Recovery::in_flight_of(const DeadReplica& dead) const {
  const std::uint64_t at = control_.replicas[dead.number].in_flight.value.load();
  const auto& queues = control_.stages[dead.stage].queues;
  const QueueNumber queue = at == kNever ? QueueNumber{} : SampleAddress::of(at).queue;
  return {at, queues.has(queue) ? queues[queue].watermark->level.value.load() : 0};
}

PoisonTracker::Verdict Recovery::judge(const DeadReplica& dead, const InFlight& in_flight,
                                       FailureReport& death) {
  if (!dead.is_missed) return {};
  const bool killed = death.ending.kind == Ending::Kind::killed && death.ending.code == SIGKILL;
  death.lack_of_memory = killed && tallies_.memory_kills.explain_one();
  const bool own_fault = death.lack_of_memory || is_own_fault(death.ending);
  return tallies_.poison_tracker.died(dead.stage, in_flight.at, in_flight.level, own_fault);
}

Recovery::Decision Recovery::decide(const DeadReplica& dead, const Ending& ending, Event event,
                                    std::int64_t now_ns) {
  using What = Decision::Next;
  const PlanStage& stage = plan_.stages[dead.stage];
  const RestartSpec& spec = stage.restart;
  // A stage that could not even open will not the next time; being killed is not its doing.
  if (!dead.was_ready && is_own_fault(ending))
    return fails(std::move(event),
                 stage.is_exec() ? "; it has not asked for a task" : " while opening");

  const RestartBudget::Decision budget = tallies_.budgets[dead.number].died(ending, now_ns);
  const std::vector<std::string> forget = stages_that_forget(plan_);
  if (budget.restart && stage.saves && !forget.empty())
    return fails(std::move(event),
                 concat("; the run cannot resume from its checkpoint automatically, because ",
                        join(forget, ", "), " would lose its state; resume with `--resume`"));
  if (budget.restart || covers(spec.policy, ending)) {
    event.restarts = budget.used;
    event.restarts_max = spec.burst;
    event.within_ns = spec.within_ns;
  }
  if (budget.restart) {
    event.next = stage.saves ? What::resume : What::restart;
    event.delay_ns = budget.delay_ns;
    return {event.next, now_ns + budget.delay_ns, std::move(event)};
  }
  const bool reserved = stage.queues.front().fixed;  // nobody else may take its tasks
  if (spec.degrade && dead.others_left && !reserved) {
    // It will never see a stop, or the end of a stream's data: others must not wait for it.
    control_.replicas[dead.number].ack.value.store(1, std::memory_order_seq_cst);
    ring_everybody(control_);
    const IndexSpaceNumber index_space = stage.queues.front().index_space;
    const bool stream = stage.kind == StageKind::producer && !stage.indexed;
    if (stream)
      end_if_all_acknowledged(control_, dead.stage, plan_.index_spaces[index_space].multiple);
    event.next = What::carry_on;
    return {event.next, 0, std::move(event)};
  }
  return fails(std::move(event), "");
}

}  // namespace brigade
