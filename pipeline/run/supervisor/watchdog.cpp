#include "pipeline/run/supervisor/watchdog.h"

#include <algorithm>
#include <chrono>

#include <brigade/text.h>
#include "base/units.h"
#include "pipeline/plan/replica_table.h"
#include "pipeline/plan/sample_address.h"
#include "pipeline/report/counters.h"
#include "stages/detail/exec_stage.h"
#include "transports/audit.h"

namespace brigade {
namespace {

constexpr std::int64_t kShortestLookNs = 20'000'000;
constexpr std::int64_t kLongestLookNs = 1'000'000'000;
constexpr int kSteps = 3;  // warn, abort, kill

std::int64_t shortest_stall(const Plan& plan) {
  std::int64_t shortest = StallSpec{}.after_ns;
  for (const PlanStage& stage : plan.stages) shortest = std::min(shortest, stage.stall.after_ns);
  return shortest;
}

}  // namespace

Watchdog::Watchdog(const Plan& plan, const Control<SystemPolicy>& control)
    : plan_(plan),
      control_(control),
      every_ns_(std::clamp(shortest_stall(plan) / 4, kShortestLookNs, kLongestLookNs)),
      seen_(static_cast<std::size_t>(plan.replicas)) {}

void Watchdog::starts(int number, std::int64_t now_ns) {
  seen_[number].since_ns = now_ns;
  seen_[number].said = 0;
  seen_[number].opens = true;
}

std::vector<Watchdog::Finding> Watchdog::look(
    std::int64_t now_ns, const std::function<ProcessCondition(int)>& condition) {
  std::vector<Finding> findings;
  const std::vector<ReplicaLease> leases = read_leases(plan_, control_, now_ns);
  for (const ReplicaLease& lease : leases) {
    if (plan_.stages[lease.stage].is_application()) continue;
    Seen& seen = seen_[lease.number];
    if (seen.opens) {
      look_at_opening(lease, now_ns, condition(lease.number), findings);
      continue;
    }
    const ReplicaCounters& counters = live_counters(control_, lease.number);
    const std::uint64_t task = counters.since_ns.load(std::memory_order_relaxed);
    const std::uint64_t at = lease.sample ? lease.sample->word() : kNever;
    if (lease.standing != Standing::working || task != seen.task || at != seen.at) {
      seen = {task, at, now_ns, 0, seen.halted};
    }
    if (lease.standing == Standing::working && now_ns - seen.since_ns < every_ns_) continue;
    look_at(lease, now_ns, condition(lease.number), findings);
  }
  look_at_graph(leases, now_ns, findings);
  return findings;
}

/// What stands in the shared words is its predecessor's.
void Watchdog::look_at_opening(const ReplicaLease& lease, std::int64_t now_ns,
                               ProcessCondition condition, std::vector<Finding>& findings) {
  Seen& seen = seen_[lease.number];
  const PlanStage& stage = plan_.stages[lease.stage];
  if (condition == ProcessCondition::gone) return;
  if (condition != ProcessCondition::runs)
    return look_at_halted(lease, seen, now_ns, condition, findings);
  const std::int64_t stood = now_ns - seen.since_ns;
  if (seen.said > 0 || stood < stage.stall.after_ns) return;
  ++seen.said;
  const std::string time = concat(format_nanoseconds(stood), " (`stall_timeout:`)");
  std::string text = concat("has been opening for ", time, ", and others wait for it");
  if (stage.type == kExecType)
    text = concat("has not asked for a task for ", time,
                  ", and others wait for it: its program must call brigade_worker_attach(), load "
                  "its data and call brigade_worker_next()");
  findings.push_back({Finding::Act::say, lease.number, std::move(text), stood});
}

void Watchdog::look_at(const ReplicaLease& lease, std::int64_t now_ns, ProcessCondition condition,
                       std::vector<Finding>& findings) {
  Seen& seen = seen_[lease.number];
  if (condition == ProcessCondition::gone) return;
  if (condition != ProcessCondition::runs) {
    return look_at_halted(lease, seen, now_ns, condition, findings);
  }
  seen.halted = false;
  if (lease.standing != Standing::working) return;
  const PlanStage& stage = plan_.stages[lease.stage];
  const std::int64_t stood = now_ns - seen.since_ns;
  const int steps = stage.stall.abort ? kSteps : 1;
  if (seen.said >= steps || stood < (seen.said + 1) * stage.stall.after_ns) return;
  Finding finding;
  finding.number = lease.number;
  finding.stood_ns = stood;
  finding.act = static_cast<Finding::Act>(seen.said++);
  finding.text =
      concat("has been ",
             lease.sample ? concat("at sample ", lease.sample->number) : std::string("in one call"),
             " for ", format_nanoseconds(stood), " (`stall_timeout:`)");
  finding.text += concat("; ", watermark_text(lease));
  if (finding.act == Finding::Act::abort) finding.text += "; aborted to print a backtrace";
  if (finding.act == Finding::Act::kill) finding.text += "; killed";
  findings.push_back(std::move(finding));
}

/// How far the stage has come, and what holds its watermark there.
std::string Watchdog::watermark_text(const ReplicaLease& lease) const {
  const QueueNumber queue = lease.sample ? lease.sample->queue : QueueNumber{};
  const auto& queues = plan_.stages[lease.stage].queues;
  const std::uint64_t task = queues[queue].task;
  const std::uint64_t level = queue_level(control_, lease.stage, queue);
  const bool holds = lease.sample && lease.sample->number / task == level / task;
  return concat(holds ? "the stage is stuck at sample " : "the stage is at sample ",
                format_count(level), holds ? "" : ", before this task");
}

void Watchdog::look_at_halted(const ReplicaLease& lease, Seen& seen, std::int64_t now_ns,
                              ProcessCondition condition, std::vector<Finding>& findings) {
  seen.since_ns = now_ns;  // time that passes for others does not count
  seen.said = 0;
  if (seen.halted) return;
  seen.halted = true;
  findings.push_back({Finding::Act::say, lease.number,
                      concat(condition == ProcessCondition::traced
                                 ? "is stopped by a debugger"
                                 : "is stopped (SIGSTOP); resume it with `kill -CONT`",
                             "; no data is lost, the others wait for it")});
}

/// A number that changes when any watermark does.
std::uint64_t Watchdog::progress() const {
  std::uint64_t sum = 0;
  for (const StageNumber s : plan_.stages.numbers())
    for (const QueueNumber queue : plan_.stages[s].queues.numbers())
      sum += queue_level(control_, s, queue);
  return sum;
}

void Watchdog::look_at_graph(const std::vector<ReplicaLease>& leases, std::int64_t now_ns,
                             std::vector<Finding>& findings) {
  const std::uint64_t now = progress();
  const bool waiting = std::all_of(leases.begin(), leases.end(), [](const ReplicaLease& lease) {
    return lease.standing == Standing::needs_input || lease.standing == Standing::needs_memory;
  });
  if (!waiting || now != progress_ || progress_ns_ == 0) {
    progress_ = now;
    progress_ns_ = now_ns;
    standstill_said_ = false;
    return;
  }
  if (standstill_said_ || now_ns - progress_ns_ < shortest_stall(plan_)) return;
  standstill_said_ = true;
  findings.push_back(
      {Finding::Act::say, -1,
       concat("no progress for ", format_nanoseconds(now_ns - progress_ns_), ": ",
              standstill_text(plan_, control_, leases), "; `brigade leases` shows the details"),
       now_ns - progress_ns_});
}

}  // namespace brigade
