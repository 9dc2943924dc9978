#pragma once

// The fields of the plan's and the resume point's types, each named once: plan_json writes and
// reads them by this list, so that every printed field is read; it is called as visit("name", x).

#include "pipeline/plan/key_fields.h"
#include "pipeline/plan/resume_point.h"

namespace brigade {

BRIGADE_PLAN_FIELDS(TensorType, name, dtype, shape, on_device)
BRIGADE_PLAN_FIELDS(PlanTensor, type, slot_bytes, slot_stride, offset)
BRIGADE_PLAN_FIELDS(PlanTerm, what, slots)
BRIGADE_PLAN_FIELDS(PlanRing, slots, bytes, expected_bytes, sparse, huge, device_bytes, tensors,
                    terms)
BRIGADE_PLAN_FIELDS(PlanInput, stage, port, tensors)
BRIGADE_PLAN_FIELDS(PlanQueue, inputs, task, window, index_space, in_order, fixed)
BRIGADE_PLAN_FIELDS(PlanPass, name, input)

template <class Visit>
void plan_fields(Visit& visit, PlanStage& stage) {
  BRIGADE_VISIT_FIELDS(stage, name, type, kind, params, parts, exec, exec_folder)
  plan_fields(visit, static_cast<StageKeys&>(stage));
  BRIGADE_VISIT_FIELDS(stage, replicas, first_replica, threads, indexed, batched, may_drop,
                       stateful, hold, keeps, uploads, join, queues, has_ring, ring, fan_out,
                       ring_index_space, cache, flat_map_outputs, readers, passes, skips_max,
                       empty_slots_possible, shared, seed, max_wait_ns, private_bytes_max,
                       private_bytes_by, saves, saved_file, position_file)
}

BRIGADE_PLAN_FIELDS(PlanIndexSpace, sources, multiple, above, fan_out, epochs_max)
BRIGADE_PLAN_FIELDS(PlanShared, type, bytes, parts, own_part, init_file, init_stage, save_file)

template <class Visit>
void plan_fields(Visit& visit, Plan& plan) {
  plan_fields(visit, static_cast<GraphKeys&>(plan));
  BRIGADE_VISIT_FIELDS(plan, file, stages, index_spaces, shared, replicas, checkpoint_file,
                       checkpoint_samples, checkpoint_ns, shard, memory_bytes, warnings)
}

BRIGADE_PLAN_FIELDS(ResumeQueue, at, epoch)

template <class Visit>
void plan_fields(Visit& visit, SampleInQueue& sample){
    BRIGADE_VISIT_FIELDS(sample, queue) BRIGADE_VISIT_FIELDS(sample.at, epoch, index)}

BRIGADE_PLAN_FIELDS(ResumeStage, queues, fingerprint, restored, epoch_ends_told, samples_before,
                    quarantined, skipped)
    BRIGADE_PLAN_FIELDS(ResumeIndexSpace, start, first_epoch, samples)
        BRIGADE_PLAN_FIELDS(ResumePoint, run_id, order, stages, index_spaces, identity, libraries)
            BRIGADE_PLAN_FIELDS(PlannedRun, plan, resume)

}  // namespace brigade
