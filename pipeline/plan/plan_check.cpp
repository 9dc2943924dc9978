#include "pipeline/plan/plan_check.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "pipeline/plan/arithmetic.h"
#include "pipeline/plan/pool_layout.h"

namespace brigade {
namespace {

constexpr std::uint64_t kPoolBytesMax = std::numeric_limits<std::int64_t>::max();

Result<void> ensure(bool holds, const char* what) {
  if (!holds) return Error{what};
  return {};
}

/// `array` is a place inside [end of the one before, pool.bytes).
Result<void> check_arrays(const PlanPool& pool) {
  std::uint64_t end = multiply_saturating(pool.rows, kRowHeaderBytes);
  for (const PlanTensor& tensor : pool.tensors) {
    BRIGADE_TRY(ensure(tensor.type.shape.size() < static_cast<std::size_t>(kRankMax),
                       "a tensor has too many dimensions"));
    for (const Dim& dim : tensor.type.shape)
      BRIGADE_TRY(ensure(dim.size >= 0, "a dimension is negative"));
    BRIGADE_TRY(ensure(tensor.row_bytes == tensor_bytes(tensor.type),
                       "the bytes of a row are not those of its type"));
    BRIGADE_TRY(ensure(tensor.offset >= end && tensor.offset % kArrayAlignment == 0,
                       "arrays of the pool overlap or start inside a page"));
    BRIGADE_TRY(ensure(tensor.row_stride >= tensor.row_bytes, "rows of an array overlap"));
    BRIGADE_TRY(ensure(tensor.type.ragged() || tensor.row_stride == tensor.row_bytes,
                       "a dense array has gaps"));
    end = add_saturating(tensor.offset, multiply_saturating(pool.rows, tensor.row_stride));
  }
  BRIGADE_TRY(ensure(pool.expected_bytes <= pool.bytes, "a pool is expected to overflow"));
  return ensure(end <= pool.bytes && pool.bytes <= kPoolBytesMax, "the pool is too small");
}

Result<void> check_pool(const PlanPool& pool) {
  BRIGADE_TRY(ensure(pool.rows > 0, "the pool has no rows"));
  std::uint64_t held = 0;
  for (const PlanHolder& holder : pool.holders) held = add_saturating(held, holder.rows);
  BRIGADE_TRY(ensure(held == pool.rows, "the holders do not add up to the pool's rows"));
  return check_arrays(pool);
}

bool has_tensor(const PlanPool& pool, const std::string& name) {
  return std::any_of(pool.tensors.begin(), pool.tensors.end(),
                     [&](const PlanTensor& tensor) { return tensor.type.name == name; });
}

Result<void> check_input(const Plan& plan, int stage, const PlanLane& lane,
                         const PlanInput& input) {
  BRIGADE_TRY(ensure(input.stage >= 0 && input.stage < stage, "an input is no earlier stage"));
  const PlanStage& source = plan.stages[input.stage];
  BRIGADE_TRY(ensure(source.has_pool, "an input has no pool"));
  for (const std::string& name : input.tensors)
    BRIGADE_TRY(ensure(has_tensor(source.pool, name), "an input lacks a tensor"));
  BRIGADE_TRY(ensure(source.pool_domain == lane.domain, "an input is of another domain"));
  BRIGADE_TRY(
      ensure(source.pool.rows % lane.task == 0, "its task does not divide an input's ring"));
  return ensure(lane.window <= source.pool.rows / lane.task, "its window is wider than an input");
}

Result<void> check_lane(const Plan& plan, int index, const PlanLane& lane) {
  const PlanStage& stage = plan.stages[index];
  BRIGADE_TRY(ensure(lane.task > 0 && lane.window > 0, "a size is 0"));
  BRIGADE_TRY(ensure(lane.domain >= 0 && lane.domain < static_cast<int>(plan.domains.size()),
                     "no such domain"));
  BRIGADE_TRY(ensure(plan.domains[lane.domain].multiple % lane.task == 0,
                     "its task does not divide the multiple of its domain"));
  if (stage.free_outputs > 0) {
    BRIGADE_TRY(ensure(lane.task == 1 && lane.window == 1 && lane.in_order && !lane.fixed,
                       "a lane of free numbering works on more than one sample"));
  } else if (stage.has_pool && !(stage.is_cache() && !lane.inputs.empty())) {
    const std::uint64_t rows = multiply_saturating(lane.task, stage.fan_out);
    BRIGADE_TRY(ensure(stage.pool.rows % rows == 0, "its task does not divide its ring"));
    BRIGADE_TRY(ensure(lane.window == stage.pool.rows / rows, "its window is not its ring"));
  } else {
    for (const PlanInput& input : lane.inputs) BRIGADE_TRY(check_input(plan, index, lane, input));
    return {};
  }
  for (const PlanInput& input : lane.inputs) {
    PlanLane reader = lane;
    reader.window = 1;  // the window is that of its own ring, which may be wider
    BRIGADE_TRY(check_input(plan, index, reader, input));
  }
  return {};
}

Result<void> check_cache(const PlanStage& stage) {
  BRIGADE_TRY(ensure(stage.kind == StageKind::transform && stage.lanes.size() == 2 &&
                         stage.lanes[1].inputs.size() == 1 && stage.fan_out == 1 &&
                         stage.free_outputs == 0 && !stage.batched && stage.indexed,
                     "it cannot be a cache"));
  BRIGADE_TRY(ensure(stage.cache.tensors.size() == stage.pool.tensors.size(),
                     "a cache keeps other tensors than it gives"));
  for (std::size_t i = 0; i < stage.cache.tensors.size(); ++i)
    BRIGADE_TRY(ensure(stage.cache.tensors[i].type == stage.pool.tensors[i].type,
                       "a cache keeps other tensors than it gives"));
  return check_pool(stage.cache);
}

Result<void> check_stage(const Plan& plan, int index) {
  const PlanStage& stage = plan.stages[index];
  BRIGADE_TRY(ensure(stage.replicas > 0 && stage.threads > 0, "it has no replica or no thread"));
  BRIGADE_TRY(ensure(
      stage.fan_out > 0 && stage.fan_out <= kFanOutMax && (stage.fan_out == 1 || stage.has_pool),
      "it makes no sample of each, or too many"));
  BRIGADE_TRY(
      ensure(stage.pool_domain >= 0 && stage.pool_domain < static_cast<int>(plan.domains.size()),
             "no domain numbers its rows"));
  BRIGADE_TRY(ensure(stage.has_pool == (stage.kind != StageKind::consumer),
                     "consumers have no pool, all others have one"));
  const bool free = stage.free_outputs > 0;
  BRIGADE_TRY(ensure(!free || (stage.kind == StageKind::transform && stage.replicas == 1 &&
                               stage.lanes.size() > 1 && stage.fan_out == 1 &&
                               stage.free_outputs <= kFanOutMax && !stage.batched),
                     "it cannot number its outputs freely"));
  BRIGADE_TRY(stage.is_cache() ? check_cache(stage)
                               : ensure(stage.cache == PlanPool{}, "it keeps something"));
  BRIGADE_TRY(ensure(!stage.lanes.empty() &&
                         (free || stage.is_cache() || !stage.has_pool || stage.lanes.size() == 1),
                     "it has a wrong number of lanes"));
  if (stage.has_pool) BRIGADE_TRY(check_pool(stage.pool));
  for (const PlanLane& lane : stage.lanes) {
    const bool source =
        stage.kind == StageKind::producer || (stage.has_output_lane() && &lane == &stage.lanes[0]);
    BRIGADE_TRY(
        ensure(lane.inputs.empty() == source, "producers have no inputs, all others have some"));
    BRIGADE_TRY(check_lane(plan, index, lane));
    const std::vector<int>& sources = plan.domains[lane.domain].sources;
    BRIGADE_TRY(ensure(
        !lane.inputs.empty() || std::find(sources.begin(), sources.end(), index) != sources.end(),
        "it numbers a domain that does not name it"));
  }
  for (const PlanPass& pass : stage.passes) {
    const auto inputs = static_cast<int>(stage.lanes.back().inputs.size());
    BRIGADE_TRY(ensure(pass.input >= 0 && pass.input < inputs && has_tensor(stage.pool, pass.name),
                       "a passed tensor comes from nowhere"));
  }
  for (const auto& [reader, lane] : stage.readers)
    BRIGADE_TRY(ensure(reader > index && reader < static_cast<int>(plan.stages.size()) &&
                           lane >= 0 && lane < static_cast<int>(plan.stages[reader].lanes.size()),
                       "a reader is no later stage"));
  for (const PlanPlace& place : stage.skipped)
    BRIGADE_TRY(ensure(place.lane >= 0 && place.lane < static_cast<int>(stage.lanes.size()),
                       "a sample that failed is of no lane"));
  return {};
}

Result<void> check_derived(const Plan& plan, const PlanDomain& domain) {
  BRIGADE_TRY(ensure(domain.above >= 0 && domain.above < static_cast<int>(plan.domains.size()),
                     "a domain is derived from nothing"));
  const PlanDomain& above = plan.domains[static_cast<std::size_t>(domain.above)];
  BRIGADE_TRY(ensure(above.above == -1 && domain.fan_out > 1 && domain.fan_out <= kFanOutMax,
                     "a domain is derived wrongly"));
  return ensure(domain.multiple == multiply_saturating(above.multiple, domain.fan_out),
                "the multiple of a derived domain is not that of the one above");
}

Result<void> check_numbers(const Plan& plan) {
  int replicas = 0;
  for (const PlanStage& stage : plan.stages) {
    if (stage.first_replica != replicas || stage.replicas > kPlanReplicasMax - replicas)
      return Error{concat("stage ", quote(stage.name), ": its replicas are misnumbered")};
    replicas += stage.replicas;
  }
  BRIGADE_TRY(ensure(replicas == plan.replicas, "its replicas do not add up"));
  for (const PlanDomain& domain : plan.domains) {
    const bool derived = domain.above != -1;
    if (derived) BRIGADE_TRY(check_derived(plan, domain));
    BRIGADE_TRY(ensure(domain.multiple > 0 && (derived || domain.multiple <= kPlanMultipleMax),
                       "the multiple of a domain is out of range"));
    BRIGADE_TRY(ensure(!domain.sources.empty(), "a domain has no source"));
    for (const int source : domain.sources)
      BRIGADE_TRY(ensure(source >= 0 && source < static_cast<int>(plan.stages.size()) &&
                             (plan.stages[source].kind == StageKind::producer ||
                              plan.stages[source].has_output_lane()),
                         "the source of a domain is no producer"));
  }
  return {};
}

}  // namespace

Result<void> check_plan(const Plan& plan) {
  for (std::size_t s = 0; s < plan.stages.size(); ++s)
    if (auto checked = check_stage(plan, static_cast<int>(s)); !checked)
      return checked.error().within(concat("stage ", quote(plan.stages[s].name)));
  return check_numbers(plan);
}

}  // namespace brigade
