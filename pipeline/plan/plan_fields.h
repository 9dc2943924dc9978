#pragma once

// The fields of the plan's types, each named once: plan_json writes and reads them through the same
// list, so that no field can be printed and not read. `visit` is called as visit("name", field).

#include "pipeline/plan/plan.h"

namespace brigade {

template <class Visit>
void plan_fields(Visit& visit, TensorType& type) {
  visit("name", type.name);
  visit("dtype", type.dtype);
  visit("shape", type.shape);
}

template <class Visit>
void plan_fields(Visit& visit, PlanTensor& tensor) {
  visit("type", tensor.type);
  visit("row_bytes", tensor.row_bytes);
  visit("row_stride", tensor.row_stride);
  visit("offset", tensor.offset);
}

template <class Visit>
void plan_fields(Visit& visit, PlanHolder& holder) {
  visit("what", holder.what);
  visit("rows", holder.rows);
}

template <class Visit>
void plan_fields(Visit& visit, PlanPool& pool) {
  visit("rows", pool.rows);
  visit("bytes", pool.bytes);
  visit("expected_bytes", pool.expected_bytes);
  visit("sparse", pool.sparse);
  visit("tensors", pool.tensors);
  visit("holders", pool.holders);
}

template <class Visit>
void plan_fields(Visit& visit, PlanInput& input) {
  visit("stage", input.stage);
  visit("port", input.port);
  visit("tensors", input.tensors);
}

template <class Visit>
void plan_fields(Visit& visit, PlanLane& lane) {
  visit("inputs", lane.inputs);
  visit("task", lane.task);
  visit("window", lane.window);
  visit("domain", lane.domain);
  visit("in_order", lane.in_order);
  visit("fixed", lane.fixed);
  visit("resume_at", lane.resume_at);
  visit("resume_epoch", lane.resume_epoch);
}

template <class Visit>
void plan_fields(Visit& visit, PlanPass& pass) {
  visit("name", pass.name);
  visit("input", pass.input);
}

template <class Visit>
void plan_fields(Visit& visit, PlanPlace& place) {
  visit("lane", place.lane);
  visit("epoch", place.epoch);
  visit("index", place.index);
}

template <class Visit>
void plan_fields(Visit& visit, OnError& on_error) {
  visit("skip", on_error.skip);
  visit("count_max", on_error.count_max);
  visit("percent_max", on_error.percent_max);
}

template <class Visit>
void plan_fields(Visit& visit, RestartSpec& restart) {
  visit("policy", restart.policy);
  visit("backoff_ns", restart.backoff_ns);
  visit("burst", restart.burst);
  visit("within_ns", restart.within_ns);
  visit("degrade", restart.degrade);
}

template <class Visit>
void plan_fields(Visit& visit, StallSpec& stall) {
  visit("after_ns", stall.after_ns);
  visit("abort", stall.abort);
}

template <class Visit>
void plan_fields(Visit& visit, PlanStage& stage) {
  visit("name", stage.name);
  visit("type", stage.type);
  visit("kind", stage.kind);
  visit("params", stage.params);
  visit("replicas", stage.replicas);
  visit("first_replica", stage.first_replica);
  visit("threads", stage.threads);
  visit("device", stage.device);
  visit("indexed", stage.indexed);
  visit("batched", stage.batched);
  visit("may_drop", stage.may_drop);
  visit("stateful", stage.stateful);
  visit("join", stage.join);
  visit("lanes", stage.lanes);
  visit("has_pool", stage.has_pool);
  visit("pool", stage.pool);
  visit("fan_out", stage.fan_out);
  visit("pool_domain", stage.pool_domain);
  visit("cache", stage.cache);
  visit("free_outputs", stage.free_outputs);
  visit("readers", stage.readers);
  visit("passes", stage.passes);
  visit("skips_max", stage.skips_max);
  visit("holes_possible", stage.holes_possible);
  visit("drop_last", stage.drop_last);
  visit("on_error", stage.on_error);
  visit("restart", stage.restart);
  visit("poison_after", stage.poison_after);
  visit("stall", stage.stall);
  visit("cpus", stage.cpus);
  visit("env", stage.env);
  visit("random", stage.random);
  visit("seed", stage.seed);
  visit("shuffle", stage.shuffle);
  visit("limit", stage.limit);
  visit("max_wait_ns", stage.max_wait_ns);
  visit("private_bytes_max", stage.private_bytes_max);
  visit("private_bytes_by", stage.private_bytes_by);
  visit("saves", stage.saves);
  visit("saved_file", stage.saved_file);
  visit("position_file", stage.position_file);
  visit("fingerprint", stage.fingerprint);
  visit("restored", stage.restored);
  visit("epoch_ends_told", stage.epoch_ends_told);
  visit("samples_before", stage.samples_before);
  visit("quarantined", stage.quarantined);
  visit("skipped", stage.skipped);
}

template <class Visit>
void plan_fields(Visit& visit, PlanDomain& domain) {
  visit("sources", domain.sources);
  visit("multiple", domain.multiple);
  visit("above", domain.above);
  visit("fan_out", domain.fan_out);
  visit("epochs_max", domain.epochs_max);
  visit("start", domain.start);
  visit("first_epoch", domain.first_epoch);
  visit("samples", domain.samples);
}

template <class Visit>
void plan_fields(Visit& visit, PlanShard& shard) {
  visit("rank", shard.rank);
  visit("world", shard.world);
  visit("uneven", shard.uneven);
}

template <class Visit>
void plan_fields(Visit& visit, Plan& plan) {
  visit("name", plan.name);
  visit("file", plan.file);
  visit("seed", plan.seed);
  visit("epochs", plan.epochs);
  visit("stages", plan.stages);
  visit("domains", plan.domains);
  visit("replicas", plan.replicas);
  visit("checkpoint_file", plan.checkpoint_file);
  visit("checkpoint_samples", plan.checkpoint_samples);
  visit("checkpoint_ns", plan.checkpoint_ns);
  visit("run_id", plan.run_id);
  visit("order", plan.order);
  visit("shard", plan.shard);
  visit("drain_ns", plan.drain_ns);
  visit("memory_bytes", plan.memory_bytes);
  visit("warnings", plan.warnings);
}

}  // namespace brigade
