#include "pipeline/report/figures.h"

#include <algorithm>

#include "pipeline/plan/consumer_epochs.h"
#include "pipeline/report/counters.h"
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
  if (waiting == Waiting::no || since <= 0 || since >= now_ns) return;
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

std::uint64_t epochs_passed(const Plan& plan, const Words& control, StageNumber stage) {
  const PlanStage& planned = plan.stages[stage];
  std::uint64_t passed = index_space_epochs(plan, planned.queues.front().index_space);
  for (const QueueNumber queue : planned.queues.numbers()) {
    if (planned.is_cache() && queue > 0) break;
    const IndexSpaceEpochs<SystemPolicy> epochs(control, planned.queues[queue].index_space);
    passed = std::min(passed, epochs.passed(queue_level(control, stage, queue)));
  }
  return passed;
}

StageFigures read_stage(const Plan& plan, const Words& control, StageNumber stage,
                        std::int64_t now_ns) {
  const PlanStage& planned = plan.stages[stage];
  StageFigures figures;
  figures.name = planned.name;
  figures.kind = planned.kind;
  figures.replicas = planned.replicas;
  figures.one_replica = planned.flat_map_outputs > 0;
  figures.epochs = epochs_passed(plan, control, stage);
  for (const QueueNumber queue : planned.queues.numbers()) {
    if (planned.has_output_queue() && queue > 0) break;  // task queue 0 is what it gives
    figures.samples += full_slots(control, stage, queue);
  }
  for (int r = 0; r < planned.replicas; ++r) {
    add_counters(live_counters(control, planned.first_replica + r), now_ns, figures);
  }
  return figures;
}

// What a consumer will have seen when all its inputs have ended; empty slots not known yet count.
std::uint64_t expected_samples(const Plan& plan, const ResumePoint& resume, const Words& control,
                               StageNumber s) {
  const PlanStage& stage = plan.stages[s];
  std::uint64_t sum = 0;
  for (const QueueNumber l : stage.queues.numbers()) {
    const PlanQueue& queue = stage.queues[l];
    const auto& words = *control.index_spaces[queue.index_space];
    const std::uint64_t samples = words.epoch_samples.value.load(std::memory_order_acquire);
    if (samples == kNever) return 0;
    const std::uint64_t whole = stage.drop_last ? in_whole_batches(stage, queue, samples) : samples;
    sum += whole * index_space_epochs(plan, queue.index_space);
    const std::uint64_t period = words.epoch_period.value.load(std::memory_order_acquire);
    const std::uint64_t at = resume.queue(s, l).at;
    if (period != 0) sum -= std::min(sum, at / period * whole + at % period);
  }
  return sum + resume.stage(s).samples_before;
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

RunFigures read_figures(const Plan& plan, const ResumePoint& resume, const Words& control,
                        std::int64_t now_ns) {
  RunFigures figures;
  figures.now_ns = now_ns;
  figures.epochs = plan.epochs;
  for (const StageNumber s : plan.stages.numbers()) {
    const PlanStage& stage = plan.stages[s];
    figures.stages.push_back(read_stage(plan, control, s, now_ns));
    figures.stages.back().samples += resume.stage(s).samples_before;
    if (stage.kind != StageKind::consumer) continue;
    const StageFigures& consumer = figures.stages.back();
    figures.epochs = std::min(figures.epochs, consumer.epochs);
    if (consumer.samples >= figures.samples) {
      figures.samples = consumer.samples;
      figures.samples_expected = expected_samples(plan, resume, control, s);
    }
    note_first_sample(control, stage, figures);
  }
  return figures;
}

}  // namespace brigade
