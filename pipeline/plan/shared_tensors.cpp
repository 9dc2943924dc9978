#include "pipeline/plan/shared_tensors.h"

#include <algorithm>
#include <limits>

#include <brigade/text.h>
#include "base/arithmetic.h"
#include "pipeline/plan/ring_layout.h"

namespace brigade {
namespace {

constexpr std::uint64_t kAlignment = 64;  // of a part, where its shape leaves that

bool maps(const PlanStage& stage, std::size_t shared) {
  return std::find(stage.shared.begin(), stage.shared.end(), static_cast<int>(shared)) !=
         stage.shared.end();
}

void divide(const ValidGraph& graph, const Plan& plan, std::size_t index, PlanShared& shared,
            PlanProblems& problems) {
  for (const PlanStage& stage : plan.stages)
    if (maps(stage, index)) shared.parts = static_cast<std::uint64_t>(stage.replicas);
  const std::int64_t size = shared.type.shape.front().size;
  if (static_cast<std::uint64_t>(size) % shared.parts == 0) return;
  problems.push_back(
      {graph.shared[index].mark, "",
       concat("shared tensor ", shared.type.name, ": its first dimension, ", size,
              ", does not divide among ", shared.parts, " replicas (`access: own_part`)"),
       "write a multiple of the number of replicas, or `access: shared`"});
  shared.parts = 1;
}

}  // namespace

SharedLayout shared_layout(const PlanShared& shared, bool guarded) {
  SharedLayout out;
  out.part_bytes = shared.bytes / shared.parts;
  out.stride = out.part_bytes;
  if (guarded && shared.own_part) {
    out.stride = round_up(out.part_bytes, kArrayAlignment);
    out.lead = out.stride - round_up(out.part_bytes, kAlignment);
  }
  out.bytes =
      kArrayAlignment + round_up(multiply_saturating(out.stride, shared.parts), kArrayAlignment);
  return out;
}

void plan_shared_tensors(const ValidGraph& graph, Plan& plan, PlanProblems& problems) {
  for (std::size_t i = 0; i < graph.shared.size(); ++i) {
    const ValidShared& valid = graph.shared[i];
    PlanShared& shared = plan.shared.emplace_back();
    shared.type = valid.type;
    shared.bytes = tensor_bytes(valid.type);
    shared.own_part = valid.own_part;
    shared.init_file = valid.init_file;
    shared.init_stage = valid.init_stage;
    shared.save_file = valid.save_file;
    if (shared.own_part) divide(graph, plan, i, shared, problems);
  }
}

Result<void> check_shared_tensors(const Plan& plan) {
  constexpr std::uint64_t kBytesMax = std::numeric_limits<std::int64_t>::max() / 2;
  for (const PlanShared& shared : plan.shared) {
    const auto rank = shared.type.shape.size();
    const bool whole = rank > 0 && rank <= static_cast<std::size_t>(kRankMax) &&
                       !shared.type.ragged() && shared.bytes == tensor_bytes(shared.type) &&
                       shared.bytes > 0 && shared.bytes < kBytesMax && shared.parts > 0;
    if (!whole || static_cast<std::uint64_t>(shared.type.shape[0].size) % shared.parts != 0 ||
        (shared.init_stage != -1 && !plan.stages.has(shared.init_stage)))
      return Error{
          concat("shared tensor ", quote(shared.type.name), " does not match its size in bytes")};
  }
  for (const PlanStage& stage : plan.stages)
    for (const int i : stage.shared) {
      if (i < 0 || static_cast<std::size_t>(i) >= plan.shared.size())
        return Error{
            concat("stage ", quote(stage.name), " maps a shared tensor that does not exist")};
      const PlanShared& shared = plan.shared[static_cast<std::size_t>(i)];
      if (shared.own_part && shared.parts != static_cast<std::uint64_t>(stage.replicas))
        return Error{
            concat("shared tensor ", quote(shared.type.name), " has no part for each replica")};
    }
  return {};
}

}  // namespace brigade
