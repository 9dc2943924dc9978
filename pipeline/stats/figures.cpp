#include "pipeline/stats/figures.h"

#include <algorithm>

#include "pipeline/stats/counters.h"
#include "transports/audit.h"
#include "transports/epochs.h"

namespace brigade {
namespace {

using Words = Control<SystemPolicy>;

std::uint64_t load(const ReplicaCounters::Word& word) {
  return word.load(std::memory_order_relaxed);  // each word whole; no order between them
}

void add_waiting(const ReplicaCounters& counters, std::int64_t now_ns, StageFigures& figures) {
  const auto waiting = static_cast<Waiting>(load(counters.waiting));
  const auto since = static_cast<std::int64_t>(load(counters.since_ns));
  if (waiting == Waiting::no || since == 0 || since >= now_ns) return;
  const auto so_far = static_cast<std::uint64_t>(now_ns - since);
  if (waiting == Waiting::input) figures.wait_in_ns += so_far;
  if (waiting == Waiting::memory) figures.wait_out_ns += so_far;
  if (waiting == Waiting::other) figures.wait_other_ns += so_far;
}

void add_counters(const ReplicaCounters& counters, std::int64_t now_ns, StageFigures& figures) {
  figures.tasks += load(counters.tasks);
  figures.skipped += load(counters.skipped);
  figures.restarts += load(counters.restarts);
  figures.busy_ns += load(counters.busy_ns);
  figures.wait_in_ns += load(counters.wait_in_ns);
  figures.wait_out_ns += load(counters.wait_out_ns);
  figures.wait_other_ns += load(counters.wait_other_ns);
  add_waiting(counters, now_ns, figures);
}

std::uint64_t epochs_passed(const Plan& plan, const Words& control, int stage) {
  const PlanStage& planned = plan.stages[static_cast<std::size_t>(stage)];
  std::uint64_t passed = domain_epochs(plan, planned.lanes.front().domain);
  for (int lane = 0; lane < static_cast<int>(planned.lanes.size()); ++lane) {
    if (planned.is_cache() && lane > 0) break;
    const DomainEpochs<SystemPolicy> epochs(control,
                                            planned.lanes[static_cast<std::size_t>(lane)].domain);
    passed = std::min(passed, epochs.passed(lane_low(control, stage, lane)));
  }
  return passed;
}

StageFigures read_stage(const Plan& plan, const Words& control, int stage, std::int64_t now_ns) {
  const PlanStage& planned = plan.stages[static_cast<std::size_t>(stage)];
  StageFigures figures;
  figures.name = planned.name;
  figures.kind = planned.kind;
  figures.replicas = planned.replicas;
  figures.one_replica = planned.free_outputs > 0;
  figures.epochs = epochs_passed(plan, control, stage);
  for (int lane = 0; lane < static_cast<int>(planned.lanes.size()); ++lane) {
    if (planned.has_output_lane() && lane > 0) break;  // lane 0 is what it gives
    figures.samples += full_rows(control, stage, lane);
  }
  figures.samples += planned.samples_before;
  for (int r = 0; r < planned.replicas; ++r) {
    add_counters(live_counters(control, planned.first_replica + r), now_ns, figures);
  }
  return figures;
}

// What a consumer will have seen when all its inputs have ended; holes not known yet count.
std::uint64_t expected_samples(const Plan& plan, const Words& control, const PlanStage& stage) {
  std::uint64_t sum = 0;
  for (const PlanLane& lane : stage.lanes) {
    const auto& words = *control.domains[static_cast<std::size_t>(lane.domain)];
    const std::uint64_t samples = words.epoch_samples.value.load(std::memory_order_acquire);
    if (samples == kNever) return 0;
    const std::uint64_t whole = stage.drop_last ? samples / lane.task * lane.task : samples;
    sum += whole * domain_epochs(plan, lane.domain);
    const std::uint64_t period = words.epoch_period.value.load(std::memory_order_acquire);
    if (lane.resume_at == 0 || period == 0) continue;
    sum -= std::min(sum, lane.resume_at / period * whole + lane.resume_at % period);
  }
  return sum + stage.samples_before;
}

void note_first_sample(const Words& control, const PlanStage& stage, RunFigures& figures) {
  for (int r = 0; r < stage.replicas; ++r) {
    const auto& counters = live_counters(control, stage.first_replica + r);
    const auto first = static_cast<std::int64_t>(load(counters.first_sample_ns));
    if (first == 0) continue;
    if (figures.first_sample_ns == 0 || first < figures.first_sample_ns) {
      figures.first_sample_ns = first;
    }
  }
}

}  // namespace

RunFigures read_figures(const Plan& plan, const Control<SystemPolicy>& control,
                        std::int64_t now_ns) {
  RunFigures figures;
  figures.now_ns = now_ns;
  figures.epochs = plan.epochs;
  for (int s = 0; s < static_cast<int>(plan.stages.size()); ++s) {
    const PlanStage& stage = plan.stages[static_cast<std::size_t>(s)];
    figures.stages.push_back(read_stage(plan, control, s, now_ns));
    if (stage.kind != StageKind::consumer) continue;
    const StageFigures& consumer = figures.stages.back();
    figures.epochs = std::min(figures.epochs, consumer.epochs);
    if (consumer.samples >= figures.samples) {
      figures.samples = consumer.samples;
      figures.samples_expected = expected_samples(plan, control, stage);
    }
    note_first_sample(control, stage, figures);
  }
  return figures;
}

}  // namespace brigade
