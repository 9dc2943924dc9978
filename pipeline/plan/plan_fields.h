#pragma once

// The fields of the plan's types and of the resume point's, each named once: plan_json writes and
// reads them by this list, so that none is printed and not read; it is called as visit("name", x).

#include "pipeline/plan/key_fields.h"
#include "pipeline/plan/resume_point.h"

namespace brigade {

template <class Visit>
void plan_fields(Visit& visit, TensorType& type) {
  visit("name", type.name);
  visit("dtype", type.dtype);
  visit("shape", type.shape);
  visit("on_device", type.on_device);
}

template <class Visit>
void plan_fields(Visit& visit, PlanTensor& tensor) {
  visit("type", tensor.type);
  visit("slot_bytes", tensor.slot_bytes);
  visit("slot_stride", tensor.slot_stride);
  visit("offset", tensor.offset);
}

template <class Visit>
void plan_fields(Visit& visit, PlanTerm& term) {
  visit("what", term.what);
  visit("slots", term.slots);
}

template <class Visit>
void plan_fields(Visit& visit, PlanRing& ring) {
  visit("slots", ring.slots);
  visit("bytes", ring.bytes);
  visit("expected_bytes", ring.expected_bytes);
  visit("sparse", ring.sparse);
  visit("huge", ring.huge);
  visit("device_bytes", ring.device_bytes);
  visit("tensors", ring.tensors);
  visit("terms", ring.terms);
}

template <class Visit>
void plan_fields(Visit& visit, PlanInput& input) {
  visit("stage", input.stage);
  visit("port", input.port);
  visit("tensors", input.tensors);
}

template <class Visit>
void plan_fields(Visit& visit, PlanQueue& queue) {
  visit("inputs", queue.inputs);
  visit("task", queue.task);
  visit("window", queue.window);
  visit("index_space", queue.index_space);
  visit("in_order", queue.in_order);
  visit("fixed", queue.fixed);
}

template <class Visit>
void plan_fields(Visit& visit, PlanPass& pass) {
  visit("name", pass.name);
  visit("input", pass.input);
}

template <class Visit>
void plan_fields(Visit& visit, PlanStage& stage) {
  visit("name", stage.name);
  visit("type", stage.type);
  visit("kind", stage.kind);
  visit("params", stage.params);
  visit("parts", stage.parts);
  visit("exec", stage.exec);
  visit("exec_folder", stage.exec_folder);
  plan_fields(visit, static_cast<StageKeys&>(stage));
  visit("replicas", stage.replicas);
  visit("first_replica", stage.first_replica);
  visit("threads", stage.threads);
  visit("indexed", stage.indexed);
  visit("batched", stage.batched);
  visit("may_drop", stage.may_drop);
  visit("stateful", stage.stateful);
  visit("hold", stage.hold);
  visit("keeps", stage.keeps);
  visit("uploads", stage.uploads);
  visit("join", stage.join);
  visit("queues", stage.queues);
  visit("has_ring", stage.has_ring);
  visit("ring", stage.ring);
  visit("fan_out", stage.fan_out);
  visit("ring_index_space", stage.ring_index_space);
  visit("cache", stage.cache);
  visit("flat_map_outputs", stage.flat_map_outputs);
  visit("readers", stage.readers);
  visit("passes", stage.passes);
  visit("skips_max", stage.skips_max);
  visit("empty_slots_possible", stage.empty_slots_possible);
  visit("shared", stage.shared);
  visit("seed", stage.seed);
  visit("max_wait_ns", stage.max_wait_ns);
  visit("private_bytes_max", stage.private_bytes_max);
  visit("private_bytes_by", stage.private_bytes_by);
  visit("saves", stage.saves);
  visit("saved_file", stage.saved_file);
  visit("position_file", stage.position_file);
}

template <class Visit>
void plan_fields(Visit& visit, PlanIndexSpace& index_space) {
  visit("sources", index_space.sources);
  visit("multiple", index_space.multiple);
  visit("above", index_space.above);
  visit("fan_out", index_space.fan_out);
  visit("epochs_max", index_space.epochs_max);
}

template <class Visit>
void plan_fields(Visit& visit, PlanShared& shared) {
  visit("type", shared.type);
  visit("bytes", shared.bytes);
  visit("parts", shared.parts);
  visit("own_part", shared.own_part);
  visit("init_file", shared.init_file);
  visit("init_stage", shared.init_stage);
  visit("save_file", shared.save_file);
}

template <class Visit>
void plan_fields(Visit& visit, Plan& plan) {
  plan_fields(visit, static_cast<GraphKeys&>(plan));
  visit("file", plan.file);
  visit("stages", plan.stages);
  visit("index_spaces", plan.index_spaces);
  visit("shared", plan.shared);
  visit("replicas", plan.replicas);
  visit("checkpoint_file", plan.checkpoint_file);
  visit("checkpoint_samples", plan.checkpoint_samples);
  visit("checkpoint_ns", plan.checkpoint_ns);
  visit("shard", plan.shard);
  visit("memory_bytes", plan.memory_bytes);
  visit("warnings", plan.warnings);
}

template <class Visit>
void plan_fields(Visit& visit, ResumeQueue& queue) {
  visit("at", queue.at);
  visit("epoch", queue.epoch);
}

template <class Visit>
void plan_fields(Visit& visit, SampleInQueue& sample) {
  visit("queue", sample.queue);
  visit("epoch", sample.at.epoch);
  visit("index", sample.at.index);
}

template <class Visit>
void plan_fields(Visit& visit, ResumeStage& stage) {
  visit("queues", stage.queues);
  visit("fingerprint", stage.fingerprint);
  visit("restored", stage.restored);
  visit("epoch_ends_told", stage.epoch_ends_told);
  visit("samples_before", stage.samples_before);
  visit("quarantined", stage.quarantined);
  visit("skipped", stage.skipped);
}

template <class Visit>
void plan_fields(Visit& visit, ResumeIndexSpace& index_space) {
  visit("start", index_space.start);
  visit("first_epoch", index_space.first_epoch);
  visit("samples", index_space.samples);
}

template <class Visit>
void plan_fields(Visit& visit, ResumePoint& resume) {
  visit("run_id", resume.run_id);
  visit("order", resume.order);
  visit("stages", resume.stages);
  visit("index_spaces", resume.index_spaces);
  visit("identity", resume.identity);
  visit("libraries", resume.libraries);
}

template <class Visit>
void plan_fields(Visit& visit, PlannedRun& run) {
  visit("plan", run.plan);
  visit("resume", run.resume);
}

}  // namespace brigade
