#include "pipeline/stats/holders.h"

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "base/units.h"
#include "pipeline/plan/lane_number.h"
#include "pipeline/plan/text_table.h"
#include "pipeline/stats/counters.h"
#include "transports/audit.h"

namespace brigade {
namespace {

using Words = Control<SystemPolicy>;

Standing standing_of(const ReplicaCounters& counters, bool begun) {
  if (!begun) return Standing::not_begun;
  switch (static_cast<Waiting>(counters.waiting.load(std::memory_order_relaxed))) {
    case Waiting::input:
      return Standing::needs_input;
    case Waiting::memory:
      return Standing::needs_memory;
    case Waiting::other:
      return Standing::needs_other;
    case Waiting::no:
      break;
  }
  return Standing::working;
}

std::uint64_t tasks_of(const Words& control, int stage, int owner) {
  std::uint64_t tasks = 0;
  for (const auto& lane : control.stages[static_cast<std::size_t>(stage)].lanes) {
    for (std::uint64_t slot = 0; slot < lane.table.window(); ++slot) {
      const auto word = TaskWord::unpack(lane.table.lines()[slot].value.load());
      if (word.state == TaskState::claimed && word.owner == owner) ++tasks;
    }
  }
  return tasks;
}

std::uint64_t end_of(const Plan& plan, const Words& control, int stage, int lane) {
  const auto& lanes = plan.stages[static_cast<std::size_t>(stage)].lanes;
  const auto domain = static_cast<std::size_t>(lanes[static_cast<std::size_t>(lane)].domain);
  return control.domains[domain]->end.value.load(std::memory_order_acquire);
}

bool is_finished(const Plan& plan, const Words& control, int stage) {
  const auto lanes = static_cast<int>(plan.stages[static_cast<std::size_t>(stage)].lanes.size());
  for (int lane = 0; lane < lanes; ++lane) {
    if (lane_low(control, stage, lane) < end_of(plan, control, stage, lane)) return false;
  }
  return true;
}

/// The stage that a stage waits for; -1: none, it is its own affair.
int waits_for(const Plan& plan, const Words& control, const std::vector<Holder>& holders,
              int stage) {
  bool input = false;
  bool memory = false;
  for (const Holder& holder : holders) {
    if (holder.stage != stage) continue;
    if (holder.standing == Standing::working || holder.standing == Standing::not_begun) return -1;
    input |= holder.standing == Standing::needs_input;
    memory |= holder.standing == Standing::needs_memory;
  }
  const PlanStage& planned = plan.stages[static_cast<std::size_t>(stage)];
  int slowest = -1;
  std::uint64_t least = kNever;
  if (input) {
    for (const PlanLane& lane : planned.lanes) {
      for (const PlanInput& source : lane.inputs) {
        if (is_finished(plan, control, source.stage)) continue;
        const std::uint64_t low = lane_low(control, source.stage, 0);
        if (low < least) slowest = source.stage, least = low;
      }
    }
  } else if (memory) {
    for (const auto& [reader, lane] : planned.readers) {
      const std::uint64_t low = lane_low(control, reader, lane);
      if (low < least) slowest = reader, least = low;
    }
  }
  return slowest;
}

std::string end_text(std::uint64_t end) {
  return end == kNever ? "an unknown number" : format_count(end);
}

std::string standing_text(Standing standing) {
  switch (standing) {
    case Standing::not_begun:
      return "has not begun";
    case Standing::working:
      return "works";
    case Standing::needs_input:
      return "waits for input";
    case Standing::needs_memory:
      return "waits for room: a reader is behind";
    case Standing::needs_other:
      return "waits for the others, or the end";
  }
  return "";
}

}  // namespace

std::vector<Holder> read_holders(const Plan& plan, const Words& control, std::int64_t now_ns) {
  std::vector<Holder> holders;
  for (int s = 0; s < static_cast<int>(plan.stages.size()); ++s) {
    const PlanStage& stage = plan.stages[static_cast<std::size_t>(s)];
    for (int r = 0; r < stage.replicas; ++r) {
      Holder holder{stage.first_replica + r, s, r, Standing::not_begun, 0, 0, std::nullopt};
      const ReplicaCounters& counters = live_counters(control, holder.number);
      const auto since =
          static_cast<std::int64_t>(counters.since_ns.load(std::memory_order_relaxed));
      holder.standing = standing_of(counters, since != 0);
      if (since != 0) holder.for_ns = std::max<std::int64_t>(now_ns - since, 0);
      holder.tasks = tasks_of(control, s, holder.number);
      const std::uint64_t at =
          control.replicas[holder.number].at.value.load(std::memory_order_relaxed);
      if (at != kNever) holder.sample = at;
      holders.push_back(holder);
    }
  }
  return holders;
}

std::optional<StandingMark> find_standing_mark(const Plan& plan, const Words& control,
                                               const std::vector<Holder>& holders) {
  const auto stages = static_cast<int>(plan.stages.size());
  int stage = 0;
  while (stage < stages && is_finished(plan, control, stage)) ++stage;
  if (stage == stages) return std::nullopt;
  for (int steps = 0; steps < stages; ++steps) {  // a way without an end would be a deadlock
    const int next = waits_for(plan, control, holders, stage);
    if (next < 0) break;
    stage = next;
  }
  StandingMark mark{stage, 0, 0, 0};
  const auto lanes = static_cast<int>(plan.stages[static_cast<std::size_t>(stage)].lanes.size());
  for (; mark.lane < lanes; ++mark.lane) {
    mark.low = lane_low(control, stage, mark.lane);
    mark.end = end_of(plan, control, stage, mark.lane);
    if (mark.low < mark.end) break;
  }
  mark.lane = std::min(mark.lane, lanes - 1);
  return mark;
}

std::string standstill_text(const Plan& plan, const Words& control,
                            const std::vector<Holder>& holders) {
  const auto mark = find_standing_mark(plan, control, holders);
  if (!mark) return "every stage is at its end";
  const PlanStage& stage = plan.stages[static_cast<std::size_t>(mark->stage)];
  std::vector<std::string> who;
  for (const Holder& holder : holders) {
    if (holder.stage != mark->stage) continue;
    std::string text = concat("replica ", holder.replica, " ", standing_text(holder.standing));
    if (holder.sample) text += concat(" on sample ", number_of(*holder.sample));
    if (holder.for_ns > 0) text += concat(" since ", format_nanoseconds(holder.for_ns));
    who.push_back(std::move(text));
  }
  return concat("stage ", quote(stage.name), " stands at ", format_count(mark->low), " of ",
                end_text(mark->end), ", and the others wait for it: ", join(who, ", "));
}

std::string holders_text(const Plan& plan, const Words& control,
                         const std::vector<Holder>& holders) {
  TextTable table(
      {Align::left, Align::right, Align::right, Align::right, Align::right, Align::left});
  table.add({"replica", "process", "tasks", "sample", "for", "what it does"});
  for (const Holder& holder : holders) {
    const PlanStage& stage = plan.stages[static_cast<std::size_t>(holder.stage)];
    table.add({concat(stage.name, ".", holder.replica),
               holder.process == 0 ? "-" : concat(holder.process),
               stage.lanes.front().in_order ? "-" : concat(holder.tasks),
               holder.sample ? concat(number_of(*holder.sample)) : "-",
               holder.for_ns > 0 ? format_nanoseconds(holder.for_ns) : "-",
               standing_text(holder.standing)});
  }
  TextTable marks({Align::left, Align::left, Align::right, Align::right});
  marks.add({"stage", "input", "done", "of"});
  for (int s = 0; s < static_cast<int>(plan.stages.size()); ++s) {
    const PlanStage& stage = plan.stages[static_cast<std::size_t>(s)];
    for (int lane = 0; lane < static_cast<int>(stage.lanes.size()); ++lane) {
      const auto& inputs = stage.lanes[static_cast<std::size_t>(lane)].inputs;
      std::vector<std::string> names;
      for (const PlanInput& input : inputs)
        names.push_back(plan.stages[static_cast<std::size_t>(input.stage)].name);
      marks.add({stage.name, names.empty() ? "-" : join(names, ", "),
                 format_count(lane_low(control, s, lane)),
                 end_text(end_of(plan, control, s, lane))});
    }
  }
  return concat(table.text(), "\n", marks.text(), standstill_text(plan, control, holders), "\n");
}

}  // namespace brigade
