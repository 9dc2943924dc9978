#include "pipeline/records/staging_slots.h"

#include <algorithm>
#include <cstring>

#include "base/arithmetic.h"
#include "pipeline/plan/ring_layout.h"
#include "pipeline/records/record_field.h"

namespace brigade {
namespace {

constexpr std::uint64_t kAlignment = 64;

PlanStage one_sample_at_a_time(PlanStage stage) {
  stage.queues.resize(1);
  stage.queues.front().task = 1;
  stage.ring.sparse = false;  // of private memory nothing is given back
  return stage;
}

}  // namespace

StagingSlots::StagingSlots(const Plan& plan, const PlanStage& stage, const ByStage<SlotRing>& rings,
                           StageNumber stage_index)
    : planned_(&plan.stages[stage_index].ring),
      ring_(rings[stage_index]),
      slots_(stage.fan_out),
      rings_(with_own_ring(stage, rings, stage_index)),
      own_(&rings_[stage_index]),
      writer_(plan, one_sample_at_a_time(stage), rings_, stage_index) {}

ByStage<SlotRing> StagingSlots::with_own_ring(const PlanStage& stage,
                                              const ByStage<SlotRing>& rings,
                                              StageNumber stage_index) {
  std::vector<SlotArray> arrays;
  std::uint64_t end = round_up(slots_ * sizeof(SlotHeader), kAlignment);
  for (const PlanTensor& tensor : stage.ring.tensors) {
    arrays.push_back({end, tensor.slot_stride});
    end = round_up(end + slots_ * tensor.slot_stride, kAlignment);
  }
  memory_.resize(end + kAlignment);
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  std::byte* const base = memory_.data() + (round_up(address, kAlignment) - address);
  ByStage<SlotRing> all = rings;
  all[stage_index] = SlotRing(base, slots_, std::move(arrays));
  return all;
}

void StagingSlots::copy_to_ring(std::uint64_t slot, std::uint64_t number) const {
  for (std::size_t i = 0; i < planned_->tensors.size(); ++i) {
    const PlanTensor& tensor = planned_->tensors[i];
    const std::byte* const from = own_->slot(i, slot);
    std::byte* const to = ring_.slot(i, number);
    if (!tensor.type.ragged()) {
      std::memcpy(to, from, tensor.slot_bytes);
      continue;
    }
    // Its NAME.shape is the next array; it is copied in its turn, after it has been compared here.
    const auto rank = static_cast<int>(tensor.type.shape.size());
    const std::uint64_t element_bytes = dtype_bytes(tensor.type.dtype);
    const auto* sizes = reinterpret_cast<const std::int64_t*>(own_->slot(i + 1, slot));
    const auto* before = reinterpret_cast<const std::int64_t*>(ring_.slot(i + 1, number));
    if (planned_->sparse)
      shrink_slot(to, expected_tensor_bytes(tensor.type), element_bytes, before, sizes, rank);
    std::memcpy(to, from, element_bytes * element_count(sizes, rank));
  }
}

}  // namespace brigade
