#include "pipeline/plan/plan_check.h"

#include <algorithm>
#include <limits>

#include <brigade/text.h>
#include "base/arithmetic.h"
#include "pipeline/config/language/spec_reader.h"
#include "pipeline/plan/ring_layout.h"
#include "pipeline/plan/shared_tensors.h"

namespace brigade {
namespace {

constexpr std::uint64_t kRingBytesMax = std::numeric_limits<std::int64_t>::max();

Result<void> ensure(bool holds, const char* what) {
  if (!holds) return Error{what};
  return {};
}

/// Each array begins behind the one before it, in the ring or in its memory of the device.
Result<void> check_arrays(const PlanRing& ring) {
  std::uint64_t in_ring = multiply_saturating(ring.slots, kSlotHeaderBytes);
  std::uint64_t on_device = 0;
  for (const PlanTensor& tensor : ring.tensors) {
    std::uint64_t& end = tensor.type.on_device ? on_device : in_ring;
    BRIGADE_TRY(ensure(!tensor.type.on_device || !tensor.type.ragged(),
                       "a ragged tensor is stored on a device"));
    BRIGADE_TRY(ensure(tensor.type.shape.size() < static_cast<std::size_t>(kRankMax),
                       "a tensor has too many dimensions"));
    for (const Dim& dim : tensor.type.shape)
      BRIGADE_TRY(ensure(dim.size >= 0, "a dimension is negative"));
    BRIGADE_TRY(ensure(tensor.slot_bytes == tensor_bytes(tensor.type),
                       "the size of a slot does not match its type"));
    BRIGADE_TRY(ensure(tensor.offset >= end && tensor.offset % kArrayAlignment == 0,
                       "arrays of the ring overlap or start inside a page"));
    BRIGADE_TRY(ensure(tensor.slot_stride >= tensor.slot_bytes, "slots of an array overlap"));
    BRIGADE_TRY(ensure(tensor.type.ragged() || tensor.slot_stride == tensor.slot_bytes,
                       "a dense array has gaps"));
    end = add_saturating(tensor.offset, multiply_saturating(ring.slots, tensor.slot_stride));
  }
  BRIGADE_TRY(
      ensure(ring.expected_bytes <= ring.bytes, "the expected size of a ring is above its size"));
  BRIGADE_TRY(ensure(on_device == ring.device_bytes && on_device <= kRingBytesMax,
                     "the device memory of a ring does not match its tensors"));
  BRIGADE_TRY(ensure(!ring.huge || (!ring.sparse && ring.bytes % kHugePageBytes == 0),
                     "a ring in huge pages is ragged, or ends inside a page"));
  return ensure(in_ring <= ring.bytes && ring.bytes <= kRingBytesMax, "the ring is too small");
}

Result<void> check_ring(const PlanRing& ring) {
  BRIGADE_TRY(ensure(ring.slots > 0, "the ring has no slots"));
  std::uint64_t held = 0;
  for (const PlanTerm& term : ring.terms) held = add_saturating(held, term.slots);
  BRIGADE_TRY(ensure(held == ring.slots, "the terms do not add up to the ring's slots"));
  return check_arrays(ring);
}

bool has_tensor(const PlanRing& ring, const std::string& name) {
  return std::any_of(ring.tensors.begin(), ring.tensors.end(),
                     [&](const PlanTensor& tensor) { return tensor.type.name == name; });
}

Result<void> check_input(const Plan& plan, StageNumber stage, const PlanQueue& queue,
                         const PlanInput& input) {
  BRIGADE_TRY(ensure(input.stage >= 0 && input.stage < stage, "an input is not an earlier stage"));
  const PlanStage& source = plan.stages[input.stage];
  BRIGADE_TRY(ensure(source.has_ring, "an input has no ring"));
  for (const std::string& name : input.tensors)
    BRIGADE_TRY(ensure(has_tensor(source.ring, name), "an input lacks a tensor"));
  BRIGADE_TRY(ensure(source.ring_index_space == queue.index_space,
                     "an input belongs to a different index space"));
  BRIGADE_TRY(
      ensure(source.ring.slots % queue.task == 0, "its task does not divide an input's ring"));
  return ensure(queue.window <= source.ring.slots / queue.task,
                "its window is wider than an input");
}

Result<void> check_queue(const Plan& plan, StageNumber index, const PlanQueue& queue) {
  const PlanStage& stage = plan.stages[index];
  BRIGADE_TRY(ensure(queue.task > 0 && queue.window > 0, "a size is 0"));
  BRIGADE_TRY(ensure(plan.index_spaces.has(queue.index_space), "no such index space"));
  BRIGADE_TRY(ensure(plan.index_spaces[queue.index_space].multiple % queue.task == 0,
                     "its task does not divide the multiple of its index space"));
  if (stage.flat_map_outputs > 0) {
    BRIGADE_TRY(ensure(queue.task == 1 && queue.window == 1 && queue.in_order && !queue.fixed,
                       "a task queue of a flat_map takes more than one sample at a time"));
  } else if (stage.has_ring && !(stage.is_cache() && !queue.inputs.empty())) {
    const std::uint64_t slots = multiply_saturating(queue.task, stage.fan_out);
    BRIGADE_TRY(ensure(stage.ring.slots % slots == 0, "its task does not divide its ring"));
    BRIGADE_TRY(
        ensure(queue.window == stage.ring.slots / slots, "its window does not match its ring"));
  } else {
    for (const PlanInput& input : queue.inputs) BRIGADE_TRY(check_input(plan, index, queue, input));
    return {};
  }
  for (const PlanInput& input : queue.inputs) {
    PlanQueue reader = queue;
    reader.window = 1;  // the window is that of its own ring, which may be wider
    BRIGADE_TRY(check_input(plan, index, reader, input));
  }
  return {};
}

Result<void> check_cache(const PlanStage& stage) {
  BRIGADE_TRY(ensure(stage.kind == StageKind::transform && stage.queues.size() == 2 &&
                         stage.queues[1].inputs.size() == 1 && stage.fan_out == 1 &&
                         stage.flat_map_outputs == 0 && !stage.batched && stage.indexed,
                     "it cannot be a cache"));
  BRIGADE_TRY(ensure(stage.cache.tensors.size() == stage.ring.tensors.size(),
                     "a cache stores different tensors than it outputs"));
  for (std::size_t i = 0; i < stage.cache.tensors.size(); ++i)
    BRIGADE_TRY(ensure(stage.cache.tensors[i].type == stage.ring.tensors[i].type,
                       "a cache stores different tensors than it outputs"));
  return check_ring(stage.cache);
}

Result<void> check_stage(const Plan& plan, StageNumber index) {
  const PlanStage& stage = plan.stages[index];
  BRIGADE_TRY(ensure(stage.replicas > 0 && stage.threads > 0, "it has no replica or no thread"));
  BRIGADE_TRY(ensure(
      stage.fan_out > 0 && stage.fan_out <= kFanOutMax && (stage.fan_out == 1 || stage.has_ring),
      "its number of samples per input is out of range"));
  BRIGADE_TRY(
      ensure(plan.index_spaces.has(stage.ring_index_space), "no index space numbers its slots"));
  BRIGADE_TRY(ensure(stage.has_ring == (stage.kind != StageKind::consumer),
                     "consumers have no ring, all others have one"));
  const bool free = stage.flat_map_outputs > 0;
  BRIGADE_TRY(ensure(!free || (stage.kind == StageKind::transform && stage.replicas == 1 &&
                               stage.queues.size() > 1 && stage.fan_out == 1 &&
                               stage.flat_map_outputs <= kFanOutMax && !stage.batched),
                     "it cannot be a flat_map"));
  BRIGADE_TRY(stage.is_cache()
                  ? check_cache(stage)
                  : ensure(stage.cache == PlanRing{}, "it is not a cache, but has cache memory"));
  BRIGADE_TRY(ensure(!stage.queues.empty() &&
                         (free || stage.is_cache() || !stage.has_ring || stage.queues.size() == 1),
                     "it has a wrong number of task queues"));
  if (stage.has_ring) BRIGADE_TRY(check_ring(stage.ring));
  for (const PlanQueue& queue : stage.queues) {
    const bool source = stage.kind == StageKind::producer ||
                        (stage.has_output_queue() && &queue == &stage.queues[0]);
    BRIGADE_TRY(
        ensure(queue.inputs.empty() == source, "producers have no inputs, all others have some"));
    BRIGADE_TRY(check_queue(plan, index, queue));
    const std::vector<StageNumber>& sources = plan.index_spaces[queue.index_space].sources;
    BRIGADE_TRY(ensure(
        !queue.inputs.empty() || std::find(sources.begin(), sources.end(), index) != sources.end(),
        "it numbers an index space that does not list it"));
  }
  for (const PlanPass& pass : stage.passes) {
    const auto inputs = static_cast<int>(stage.queues.back().inputs.size());
    BRIGADE_TRY(ensure(pass.input >= 0 && pass.input < inputs && has_tensor(stage.ring, pass.name),
                       "a passed tensor has no source"));
  }
  for (const auto& [reader, queue] : stage.readers)
    BRIGADE_TRY(
        ensure(reader > index && plan.stages.has(reader) && plan.stages[reader].queues.has(queue),
               "a reader is not a later stage"));
  return {};
}

Result<void> check_derived(const Plan& plan, const PlanIndexSpace& index_space) {
  BRIGADE_TRY(
      ensure(plan.index_spaces.has(index_space.above), "a derived index space has no parent"));
  const PlanIndexSpace& above = plan.index_spaces[index_space.above];
  BRIGADE_TRY(
      ensure(above.above == -1 && index_space.fan_out > 1 && index_space.fan_out <= kFanOutMax,
             "a derived index space is invalid"));
  return ensure(index_space.multiple == multiply_saturating(above.multiple, index_space.fan_out),
                "the multiple of a derived index space does not match its parent");
}

Result<void> check_numbers(const Plan& plan) {
  int replicas = 0;
  for (const PlanStage& stage : plan.stages) {
    if (stage.first_replica != replicas || stage.replicas > kPlanReplicasMax - replicas)
      return Error{concat("stage ", quote(stage.name), ": its replicas are misnumbered")};
    replicas += stage.replicas;
  }
  BRIGADE_TRY(ensure(replicas == plan.replicas, "its replicas do not add up"));
  for (const PlanIndexSpace& index_space : plan.index_spaces) {
    const bool derived = index_space.above != -1;
    if (derived) BRIGADE_TRY(check_derived(plan, index_space));
    BRIGADE_TRY(
        ensure(index_space.multiple > 0 && (derived || index_space.multiple <= kPlanMultipleMax),
               "the multiple of an index space is out of range"));
    BRIGADE_TRY(ensure(!index_space.sources.empty(), "an index space has no source"));
    for (const StageNumber source : index_space.sources)
      BRIGADE_TRY(
          ensure(plan.stages.has(source) && (plan.stages[source].kind == StageKind::producer ||
                                             plan.stages[source].has_output_queue()),
                 "the source of an index space is not a producer"));
  }
  return {};
}

}  // namespace

Result<void> check_plan(const Plan& plan) {
  for (const StageNumber s : plan.stages.numbers())
    if (!is_name(plan.stages[s].name)) return Error{"a stage has an invalid name"};
  for (const StageNumber s : plan.stages.numbers())
    if (auto checked = check_stage(plan, s); !checked)
      return checked.error().within(concat("stage ", quote(plan.stages[s].name)));
  BRIGADE_TRY(check_shared_tensors(plan));
  return check_numbers(plan);
}

Result<void> check_resume(const Plan& plan, const ResumePoint& resume) {
  const auto fits = [](const auto& list, const auto& of) {
    return list.empty() || list.size() == of.size();
  };
  BRIGADE_TRY(
      ensure(fits(resume.stages, plan.stages) && fits(resume.index_spaces, plan.index_spaces),
             "the resume point belongs to a different plan"));
  for (const StageNumber s : resume.stages.numbers()) {
    const ResumeStage& stage = resume.stages[s];
    const ByQueue<PlanQueue>& queues = plan.stages[s].queues;
    BRIGADE_TRY(ensure(fits(stage.queues, queues),
                       "the task queues of the resume point belong to a different plan"));
    for (const SampleInQueue& sample : stage.skipped)
      BRIGADE_TRY(ensure(queues.has(sample.queue), "a failed sample belongs to no task queue"));
  }
  return {};
}

}  // namespace brigade
