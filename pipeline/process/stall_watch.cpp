#include "pipeline/process/stall_watch.h"

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "base/units.h"
#include "pipeline/plan/lane_number.h"
#include "pipeline/stats/counters.h"
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

StallWatch::StallWatch(const Plan& plan, const Control<SystemPolicy>& control)
    : plan_(plan),
      control_(control),
      every_ns_(std::clamp(shortest_stall(plan) / 4, kShortestLookNs, kLongestLookNs)),
      seen_(static_cast<std::size_t>(plan.replicas)) {}

std::string StallWatch::name(const Holder& holder) const {
  return concat("stage ", quote(plan_.stages[static_cast<std::size_t>(holder.stage)].name),
                " replica ", holder.replica);
}

std::vector<StallWatch::Finding> StallWatch::look(
    std::int64_t now_ns, const std::function<ProcessCondition(int)>& condition) {
  std::vector<Finding> findings;
  const std::vector<Holder> holders = read_holders(plan_, control_, now_ns);
  for (const Holder& holder : holders) {
    Seen& seen = seen_[static_cast<std::size_t>(holder.number)];
    const ReplicaCounters& counters = live_counters(control_, holder.number);
    const std::uint64_t task = counters.since_ns.load(std::memory_order_relaxed);
    const std::uint64_t at = holder.sample.value_or(kNever);
    if (holder.standing != Standing::working || task != seen.task || at != seen.at) {
      seen = {task, at, now_ns, 0, seen.halted};
    }
    if (holder.standing == Standing::working && now_ns - seen.since_ns < every_ns_) continue;
    look_at(holder, now_ns, condition(holder.number), findings);
  }
  look_at_graph(holders, now_ns, findings);
  return findings;
}

void StallWatch::look_at(const Holder& holder, std::int64_t now_ns, ProcessCondition condition,
                         std::vector<Finding>& findings) {
  Seen& seen = seen_[static_cast<std::size_t>(holder.number)];
  if (condition == ProcessCondition::gone) return;
  if (condition != ProcessCondition::runs) {
    return look_at_halted(holder, seen, now_ns, condition, findings);
  }
  seen.halted = false;
  if (holder.standing != Standing::working) return;
  const PlanStage& stage = plan_.stages[static_cast<std::size_t>(holder.stage)];
  const std::int64_t stood = now_ns - seen.since_ns;
  const int steps = stage.stall.abort ? kSteps : 1;
  if (seen.said >= steps || stood < (seen.said + 1) * stage.stall.after_ns) return;
  Finding finding;
  finding.number = holder.number;
  finding.act = static_cast<Finding::Act>(seen.said++);
  finding.text = concat(
      name(holder), " has been ",
      holder.sample ? concat("at sample ", number_of(*holder.sample)) : std::string("in one call"),
      " for ", format_nanoseconds(stood), " (`stall_timeout:`)");
  finding.text += concat("; ", mark_text(holder));
  if (finding.act == Finding::Act::abort) finding.text += "; aborted, for a backtrace";
  if (finding.act == Finding::Act::kill) finding.text += "; killed";
  findings.push_back(std::move(finding));
}

/// How far the stage has come, and what holds its mark there.
std::string StallWatch::mark_text(const Holder& holder) const {
  const int lane = holder.sample ? lane_of(*holder.sample) : 0;
  const auto& lanes = plan_.stages[static_cast<std::size_t>(holder.stage)].lanes;
  const std::uint64_t task = lanes[static_cast<std::size_t>(lane)].task;
  const std::uint64_t low = lane_low(control_, holder.stage, lane);
  const bool holds = holder.sample && number_of(*holder.sample) / task == low / task;
  return concat("its stage's mark is at ", format_count(low),
                holds ? " and does not move for it" : ", below this task");
}

void StallWatch::look_at_halted(const Holder& holder, Seen& seen, std::int64_t now_ns,
                                ProcessCondition condition, std::vector<Finding>& findings) {
  seen.since_ns = now_ns;  // time that passes for others does not count
  seen.said = 0;
  if (seen.halted) return;
  seen.halted = true;
  findings.push_back({Finding::Act::say, holder.number,
                      concat(name(holder),
                             condition == ProcessCondition::traced
                                 ? " is held by a debugger"
                                 : " is stopped (SIGSTOP); `kill -CONT` lets it go on",
                             "; nothing is lost, the others wait for it")});
}

/// A number that changes when any mark does.
std::uint64_t StallWatch::progress() const {
  std::uint64_t sum = 0;
  for (int s = 0; s < static_cast<int>(plan_.stages.size()); ++s) {
    const auto lanes = static_cast<int>(plan_.stages[static_cast<std::size_t>(s)].lanes.size());
    for (int lane = 0; lane < lanes; ++lane) sum += lane_low(control_, s, lane);
  }
  return sum;
}

void StallWatch::look_at_graph(const std::vector<Holder>& holders, std::int64_t now_ns,
                               std::vector<Finding>& findings) {
  const std::uint64_t now = progress();
  const bool waiting = std::all_of(holders.begin(), holders.end(), [](const Holder& holder) {
    return holder.standing == Standing::needs_input || holder.standing == Standing::needs_memory;
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
       concat("nothing has moved for ", format_nanoseconds(now_ns - progress_ns_), ": ",
              standstill_text(plan_, control_, holders), "; `brigade holders` shows all of it")});
}

}  // namespace brigade
