#include "pipeline/plan/planner/planner.h"

#include <algorithm>
#include <cmath>

#include <brigade/text.h>
#include "base/arithmetic.h"
#include "base/units.h"
#include "pipeline/plan/caches.h"
#include "pipeline/plan/planner/buffer_budget.h"
#include "pipeline/plan/planner/huge_pages.h"
#include "pipeline/plan/planner/memory_budget.h"
#include "pipeline/plan/planner/task_sizes.h"
#include "pipeline/plan/planner/thread_budget.h"
#include "pipeline/plan/planner/unknown_length.h"
#include "pipeline/plan/planner/zipped_sources.h"
#include "pipeline/plan/ring_layout.h"
#include "pipeline/plan/shared_tensors.h"
#include "pipeline/plan/subset.h"
#include "pipeline/plan/task_queues.h"

namespace brigade {
namespace {

int input_of_pass(const ValidStage& stage, const PassedTensor& passed) {
  return stage.join == Join::zip ? passed.source : 0;
}

void state_private_memory(const ValidStage& valid, PlanStage& stage) {
  const StageContract& contract = valid.type->contract;
  if (!contract.private_bytes) return;
  stage.private_bytes_max = contract.private_bytes(valid.params.get());
  for (const auto& [name, value] : valid.param_values)
    if (name == contract.private_bytes_by) stage.private_bytes_by = concat(name, ": ", value.text);
}

/// Of a consumer: whether its tasks may end after their call.
bool may_keep(const ValidStage& valid, const MachineLimits& limits) {
  const StageContract& contract = valid.type->contract;
  const bool on_cpu = valid.device == "cpu" || (valid.device == "auto" && limits.gpus == 0);
  return contract.holds && valid.batched && !(contract.holds_for_device && on_cpu);
}

PlanStage describe_stage(const ValidGraph& graph, const ValidStage& valid,
                         const MachineLimits& limits) {
  PlanStage stage;
  static_cast<StageKeys&>(stage) = valid;
  stage.name = valid.name;
  stage.type = valid.type->contract.type;
  stage.kind = valid.kind;
  stage.params = valid.param_values;
  for (const ValidStage& part : valid.parts)
    stage.parts.push_back(describe_stage(graph, part, limits));
  stage.exec = valid.exec;
  stage.exec_folder = valid.exec_folder;
  stage.indexed = valid.type->indexed || valid.type->contract.cache;
  stage.batched = valid.batched;
  stage.may_drop = valid.type->contract.may_drop;
  stage.stateful = valid.type->contract.stateful;
  stage.keeps = may_keep(valid, limits);
  if (valid.device_memory && valid.type->contract.uploads)
    stage.uploads = valid.type->contract.uploads(valid.params.get());
  if (stage.holds()) stage.hold = valid.hold;
  stage.join = valid.join;
  for (const PassedTensor& passed : valid.passed)
    stage.passes.push_back({passed.name, input_of_pass(valid, passed)});
  stage.shared = valid.shared;
  stage.seed = valid.seed.value_or(graph.seed);
  for (PlanStage& part : stage.parts) {
    part.seed = stage.seed;
    stage.may_drop |= part.may_drop;
  }
  state_private_memory(valid, stage);
  stage.saves = valid.type->contract.saves && !graph.checkpoint_file.empty();
  return stage;
}

/// FILE has what a consumer saves, FILE.position where it stood; several of either have the stage's
/// name in theirs.
void name_checkpoints(Plan& plan) {
  if (plan.checkpoint_file.empty()) return;
  const auto is_consumer = [](const PlanStage& stage) { return stage.kind == StageKind::consumer; };
  const auto saves = [](const PlanStage& stage) { return stage.saves; };
  const auto consumers = std::count_if(plan.stages.begin(), plan.stages.end(), is_consumer);
  const auto savers = std::count_if(plan.stages.begin(), plan.stages.end(), saves);
  for (PlanStage& stage : plan.stages) {
    if (!is_consumer(stage)) continue;
    const std::string named = concat(plan.checkpoint_file, ".", stage.name);
    stage.position_file = concat(consumers == 1 ? plan.checkpoint_file : named, ".position");
    if (stage.saves) stage.saved_file = savers == 1 ? plan.checkpoint_file : named;
  }
}

Plan describe(const ValidGraph& graph, const MachineLimits& limits) {
  Plan plan;
  static_cast<GraphKeys&>(plan) = graph;
  plan.file = graph.files.empty() ? "" : graph.files.front();
  plan.checkpoint_file = graph.checkpoint_file;
  plan.checkpoint_samples = graph.checkpoint_every.samples;
  plan.checkpoint_ns = graph.checkpoint_every.ns;
  plan.shard = graph.shard;
  for (const ValidStage& stage : graph.stages)
    plan.stages.push_back(describe_stage(graph, stage, limits));
  name_checkpoints(plan);
  return plan;
}

/// Empty slots come from samples that failed and were skipped, from filters, and from batches that
/// a transform drops, which a cache may give anywhere; and replicas that share a stream fill each
/// its own task with padding. They travel downstream. All other padding ends a multiple of L.
void find_empty_slots(const ValidGraph& graph, Plan& plan) {
  for (const StageNumber s : plan.stages.numbers()) {
    PlanStage& stage = plan.stages[s];
    const bool shares_stream =
        graph.stages[s].sources.empty() && !stage.indexed && stage.replicas > 1;
    const bool drops_batches = stage.drop_last && stage.kind != StageKind::consumer;
    stage.empty_slots_possible =
        stage.on_error.skip || stage.may_drop || drops_batches || shares_stream;
    for (const ValidSource& source : graph.stages[s].sources)
      stage.empty_slots_possible |= plan.stages[source.stage].empty_slots_possible;
    if (stage.flat_map_outputs > 0) stage.empty_slots_possible = false;  // they vanish
  }
}

/// A replica may add its sample and die before it is done, and so may its successor. A sample that
/// fails in every epoch counts once, but is noted down each time.
void size_skip_lists(Plan& plan) {
  for (PlanStage& stage : plan.stages) {
    if (!stage.on_error.skip) continue;
    const double share = std::clamp(stage.on_error.percent_max / 100, 0.0, 1.0);
    const std::uint64_t asked =
        stage.on_error.percent_max > 0
            ? static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(kSkipsMax)))
            : multiply_saturating(stage.on_error.count_max, plan.epochs);
    stage.skips_max = std::min(asked, kSkipsMax) + 2 * static_cast<std::uint64_t>(stage.replicas);
    if (asked > kSkipsMax)
      plan.warnings.push_back(
          concat("stage ", quote(stage.name), ": on_error: skip: ", stage.on_error.count_max,
                 plan.epochs > 1 ? " in every epoch" : "",
                 " is more than a run can record; the run ends after ", kSkipsMax, " skips"));
  }
}

/// Slots of a stage's ring -> samples of its task queue, of which these may take part.
std::uint64_t samples_touched(const PlanStage& stage, std::uint64_t slots) {
  if (stage.fan_out == 1 || slots == 0) return slots;
  return slots / stage.fan_out + 2;  // of the first and the last perhaps a part
}

/// Slots of the tasks on the longest way down from a stage's output, for every stage.
ByStage<std::uint64_t> ways_down(const Plan& plan) {
  ByStage<std::uint64_t> ways(plan.stages.size());
  for (StageNumber s = plan.stages.next_number(); s-- > 0;) {
    for (const auto& [reader, queue] : plan.stages[s].readers) {
      const PlanStage& below = plan.stages[reader];
      // What a cache gives is another way.
      const std::uint64_t on = below.is_cache() ? 0 : samples_touched(below, ways[reader]);
      ways[s] = std::max(ways[s], add_saturating(below.queues[queue].task, on));
    }
  }
  return ways;
}

bool has_zip(const Plan& plan, IndexSpaceNumber index_space) {
  const IndexSpaceNumber root = root_index_space(plan, index_space);
  const auto zips = [&](const PlanQueue& queue) {
    return root_index_space(plan, queue.index_space) == root && queue.inputs.size() > 1;
  };
  return std::any_of(plan.stages.begin(), plan.stages.end(), [&](const PlanStage& stage) {
    return std::any_of(stage.queues.begin(), stage.queues.end(), zips);
  });
}

RingDemand demand_of(const Plan& plan, const PlanStage& stage, std::uint64_t buffers) {
  RingDemand demand;
  demand.writer = {stage.name, static_cast<std::uint64_t>(stage.replicas),
                   multiply_saturating(stage.queues.front().task, stage.fan_out)};
  for (const auto& [reader, queue] : stage.readers)
    demand.readers.push_back(
        {plan.stages[reader].name,
         multiply_saturating(static_cast<std::uint64_t>(plan.stages[reader].replicas),
                             plan.stages[reader].hold),
         plan.stages[reader].queues[queue].task});
  demand.slot_bytes = ring_slot_bytes(stage.ring.tensors);
  demand.buffers = buffers;
  return demand;
}

void warn_of_ring(const ValidStage& stage, const RingSlots& ring, Plan& plan) {
  if (ring.buffers_raised)
    plan.warnings.push_back(concat("stage ", quote(stage.name), ": buffers: ", stage.buffers,
                                   " is less than its stages hold at once; the plan uses ",
                                   ring.slots, " slots"));
  if (ring.multiple > 2 * ring.held)
    plan.warnings.push_back(concat("stage ", quote(stage.name), ": its ring has ", ring.slots,
                                   " slots where ", ring.held,
                                   " would suffice, because the task sizes of the stage and its "
                                   "readers have a large common multiple"));
}

void make_rings(const ValidGraph& graph, Plan& plan) {
  const ByStage<std::uint64_t> ways = ways_down(plan);
  for (const StageNumber s : plan.stages.numbers()) {
    PlanStage& stage = plan.stages[s];
    if (!stage.has_ring) continue;
    stage.ring.tensors = ring_tensors(graph.stages[s].outputs);
    RingDemand demand = demand_of(plan, stage, graph.stages[s].buffers);
    if (has_zip(plan, stage.queues.front().index_space)) demand.way_to_zip = ways[s];
    RingSlots ring = size_ring(demand);
    warn_of_ring(graph.stages[s], ring, plan);
    stage.ring.slots = ring.slots;
    stage.ring.terms = std::move(ring.terms);
    stage.ring.sparse = has_ragged(stage.ring.tensors);
    stage.ring.huge = graph.stages[s].hugepages;
    lay_out_ring(stage.ring);
  }
}

/// W: the task words that can be in use at once.
std::uint64_t window_of(const Plan& plan, const PlanStage& stage, const PlanQueue& queue) {
  if (stage.flat_map_outputs > 0) return 1;  // its task queues use no task words
  if (stage.has_ring && !(stage.is_cache() && !queue.inputs.empty()))
    return stage.ring.slots / (queue.task * stage.fan_out);
  std::uint64_t slots = kSaturated;
  for (const PlanInput& input : queue.inputs)
    slots = std::min(slots, plan.stages[input.stage].ring.slots);
  return slots / queue.task;
}

void finish_queues(const ValidGraph& graph, Plan& plan) {
  for (PlanStage& stage : plan.stages) {
    for (PlanQueue& queue : stage.queues) {
      queue.window = window_of(plan, stage, queue);
      queue.in_order = stage.replicas == 1 && !stage.holds();
      queue.fixed = stage.flat_map_outputs == 0 && graph.stages[plan.stages.number_of(stage)].fixed;
    }
  }
}

/// Batches there are not gathered around what is empty in their middle.
void check_device_memory(const ValidGraph& graph, const Plan& plan, PlanProblems& problems) {
  for (const PlanStage& stage : plan.stages) {
    if (!stage.writes_on_device()) continue;
    const PlanStage* empty = stage.empty_slots_possible ? &stage : nullptr;
    for (const auto& [reader, queue] : stage.readers)
      if (empty == nullptr && plan.stages[reader].empty_slots_possible)
        empty = &plan.stages[reader];
    if (empty != nullptr)
      problems.push_back(problem_at(
          graph.stages[plan.stages.number_of(stage)],
          concat(
              "`memory: device` needs whole batches, but samples may be missing in the batches of ",
              quote(empty->name),
              " (`on_error: {skip: ...}`, filters, streams of several replicas)"),
          "close the gaps upstream with `transform: repack`, or omit `memory:`"));
  }
}

/// Of a source that tells how many samples it has, or of which they have been counted, some must be
/// left.
void check_part(const ValidStage& stage, PlanProblems& problems) {
  for (const ValidStage& part : stage.parts) check_part(part, problems);
  const std::uint64_t samples = stage.samples > 0 ? stage.samples : stage.files;
  if (stage.kind == StageKind::producer && samples > 0 && Subset(stage, 0, samples).size() == 0)
    problems.push_back(problem_at(stage,
                                  concat("its source has ", format_samples(samples),
                                         ", but `skip:` and `split:` leave none of them"),
                                  "skip fewer, give the part a larger share, or add samples"));
}

void check_parts(const ValidGraph& graph, PlanProblems& problems) {
  for (const ValidStage& stage : graph.stages) check_part(stage, problems);
}

}  // namespace

PlanResult plan_graph(const ValidGraph& graph, const MachineLimits& limits) {
  PlanResult result;
  Plan& plan = result.plan;
  PlanProblems& problems = result.problems;
  plan = describe(graph, limits);
  make_task_queues(graph, plan);
  number_index_spaces(graph, plan, problems);
  check_unknown_lengths(graph, plan, problems);
  check_parts(graph, problems);
  if (problems.empty()) check_zipped_sources(graph, plan, problems);
  warn_of_zipped_orders(plan);
  set_task_sizes(graph, plan, problems);
  share_cores(graph, limits, plan, problems);
  plan_shared_tensors(graph, plan, problems);
  check_descriptors(limits, plan, problems);
  if (!problems.empty()) return result;  // memory of wrong task sizes would be a second complaint

  find_empty_slots(graph, plan);
  size_skip_lists(plan);
  make_rings(graph, plan);
  check_device_memory(graph, plan, problems);
  make_caches(graph, plan, problems);
  finish_queues(graph, plan);
  check_memory(graph, limits, plan, problems);
  check_huge_pages(graph, limits, plan, problems);
  return result;
}

}  // namespace brigade
