#include "pipeline/report/leases.h"

#include <algorithm>
#include <chrono>

#include <brigade/text.h>
#include "base/text_table.h"
#include "base/units.h"
#include "pipeline/report/counters.h"
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

std::uint64_t tasks_of(const Words& control, StageNumber stage, int owner) {
  std::uint64_t tasks = 0;
  for (const auto& queue : control.stages[stage].queues) {
    for (std::uint64_t entry = 0; entry < queue.table.window(); ++entry) {
      const auto word = TaskWord::unpack(queue.table.lines()[entry].value.load());
      if (word.state == TaskState::claimed && word.owner == owner) ++tasks;
    }
  }
  return tasks;
}

std::uint64_t end_of(const Plan& plan, const Words& control, StageNumber stage, QueueNumber queue) {
  const IndexSpaceNumber index_space = plan.stages[stage].queues[queue].index_space;
  return control.index_spaces[index_space]->end.value.load(std::memory_order_acquire);
}

bool is_finished(const Plan& plan, const Words& control, StageNumber stage) {
  for (const QueueNumber queue : plan.stages[stage].queues.numbers()) {
    if (queue_level(control, stage, queue) < end_of(plan, control, stage, queue)) return false;
  }
  return true;
}

/// The stage that a stage waits for; -1: none, it is its own affair.
StageNumber waits_for(const Plan& plan, const Words& control,
                      const std::vector<ReplicaLease>& leases, StageNumber stage) {
  bool input = false;
  bool memory = false;
  for (const ReplicaLease& lease : leases) {
    if (lease.stage != stage) continue;
    if (lease.standing == Standing::working || lease.standing == Standing::not_begun) return -1;
    input |= lease.standing == Standing::needs_input;
    memory |= lease.standing == Standing::needs_memory;
  }
  const PlanStage& planned = plan.stages[stage];
  StageNumber slowest = -1;
  std::uint64_t least = kNever;
  if (input) {
    for (const PlanQueue& queue : planned.queues) {
      for (const PlanInput& source : queue.inputs) {
        if (is_finished(plan, control, source.stage)) continue;
        const std::uint64_t level = queue_level(control, source.stage, 0);
        if (level < least) slowest = source.stage, least = level;
      }
    }
  } else if (memory) {
    for (const auto& [reader, queue] : planned.readers) {
      const std::uint64_t level = queue_level(control, reader, queue);
      if (level < least) slowest = reader, least = level;
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
      return "has not started";
    case Standing::working:
      return "works";
    case Standing::needs_input:
      return "waits for input";
    case Standing::needs_memory:
      return "waits for buffer space: a reader is slower";
    case Standing::needs_other:
      return "waits for other replicas or the end";
  }
  return "";
}

}  // namespace

std::vector<ReplicaLease> read_leases(const Plan& plan, const Words& control, std::int64_t now_ns) {
  std::vector<ReplicaLease> leases;
  for (const StageNumber s : plan.stages.numbers()) {
    const PlanStage& stage = plan.stages[s];
    for (int r = 0; r < stage.replicas; ++r) {
      ReplicaLease lease{stage.first_replica + r, s, r, Standing::not_begun, 0, 0, std::nullopt};
      const ReplicaCounters& counters = live_counters(control, lease.number);
      const auto since =
          static_cast<std::int64_t>(counters.since_ns.load(std::memory_order_relaxed));
      // It may be the memory of others: no clock gives a number below 0.
      lease.standing = standing_of(counters, since > 0);
      if (since > 0) lease.for_ns = std::max<std::int64_t>(now_ns - since, 0);
      lease.tasks = tasks_of(control, s, lease.number);
      const std::uint64_t at =
          control.replicas[lease.number].in_flight.value.load(std::memory_order_relaxed);
      if (at != kNever) lease.sample = SampleAddress::of(at);
      leases.push_back(lease);
    }
  }
  return leases;
}

std::optional<StandingWatermark> find_standing_watermark(const Plan& plan, const Words& control,
                                                         const std::vector<ReplicaLease>& leases) {
  StageNumber stage = 0;
  while (plan.stages.has(stage) && is_finished(plan, control, stage)) ++stage;
  if (!plan.stages.has(stage)) return std::nullopt;
  for (std::size_t step = 0; step < plan.stages.size();
       ++step) {  // a way without an end would be a deadlock
    const StageNumber next = waits_for(plan, control, leases, stage);
    if (next < 0) break;
    stage = next;
  }
  StandingWatermark watermark{stage, 0, 0, 0};
  for (const QueueNumber queue : plan.stages[stage].queues.numbers()) {
    watermark = {stage, queue, queue_level(control, stage, queue),
                 end_of(plan, control, stage, queue)};
    if (watermark.level < watermark.end) break;
  }
  return watermark;
}

std::string standstill_text(const Plan& plan, const Words& control,
                            const std::vector<ReplicaLease>& leases) {
  const auto watermark = find_standing_watermark(plan, control, leases);
  if (!watermark) return "every stage has finished";
  const PlanStage& stage = plan.stages[watermark->stage];
  std::vector<std::string> who;
  for (const ReplicaLease& lease : leases) {
    if (lease.stage != watermark->stage) continue;
    std::string text = concat("replica ", lease.replica, " ", standing_text(lease.standing));
    if (lease.sample) text += concat(" on sample ", lease.sample->number);
    if (lease.for_ns > 0) text += concat(" for ", format_nanoseconds(lease.for_ns));
    who.push_back(std::move(text));
  }
  return concat("stage ", quote(stage.name), " is at ", format_count(watermark->level), " of ",
                end_text(watermark->end), " and blocks the others: ", join(who, ", "));
}

std::string leases_text(const Plan& plan, const Words& control,
                        const std::vector<ReplicaLease>& leases) {
  TextTable table(
      {Align::left, Align::right, Align::right, Align::right, Align::right, Align::left});
  table.add({"replica", "process", "tasks", "sample", "for", "state"});
  for (const ReplicaLease& lease : leases) {
    const PlanStage& stage = plan.stages[lease.stage];
    table.add(
        {concat(stage.name, ".", lease.replica), lease.process == 0 ? "-" : concat(lease.process),
         stage.queues.front().in_order ? "-" : concat(lease.tasks),
         lease.sample ? concat(lease.sample->number) : "-",
         lease.for_ns > 0 ? format_nanoseconds(lease.for_ns) : "-", standing_text(lease.standing)});
  }
  TextTable watermarks({Align::left, Align::left, Align::right, Align::right});
  watermarks.add({"stage", "input", "done", "of"});
  for (const StageNumber s : plan.stages.numbers()) {
    const PlanStage& stage = plan.stages[s];
    for (const QueueNumber queue : stage.queues.numbers()) {
      const auto& inputs = stage.queues[queue].inputs;
      std::vector<std::string> names;
      for (const PlanInput& input : inputs) names.push_back(plan.stages[input.stage].name);
      watermarks.add({stage.name, names.empty() ? "-" : join(names, ", "),
                      format_count(queue_level(control, s, queue)),
                      end_text(end_of(plan, control, s, queue))});
    }
  }
  return concat(table.text(), "\n", watermarks.text(), standstill_text(plan, control, leases),
                "\n");
}

}  // namespace brigade
