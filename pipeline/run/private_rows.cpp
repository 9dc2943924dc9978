#include "pipeline/run/private_rows.h"

#include <algorithm>
#include <cstring>

#include "pipeline/plan/arithmetic.h"
#include "pipeline/plan/pool_layout.h"
#include "pipeline/run/ragged_rows.h"

namespace brigade {
namespace {

constexpr std::uint64_t kAlignment = 64;

PlanStage one_sample_at_a_time(PlanStage stage) {
  stage.lanes.resize(1);
  stage.lanes.front().task = 1;
  stage.pool.sparse = false;  // of private memory nothing is given back
  return stage;
}

}  // namespace

PrivateRows::PrivateRows(const Plan& plan, const PlanStage& stage, std::span<const RowPool> pools,
                         std::size_t stage_index)
    : planned_(&plan.stages[stage_index].pool),
      pool_(pools[stage_index]),
      rows_(stage.fan_out),
      pools_(with_own_pool(stage, pools, stage_index)),
      own_(&pools_[stage_index]),
      writer_(plan, one_sample_at_a_time(stage), pools_, stage_index) {}

std::vector<RowPool> PrivateRows::with_own_pool(const PlanStage& stage,
                                                std::span<const RowPool> pools,
                                                std::size_t stage_index) {
  std::vector<RowArray> arrays;
  std::uint64_t end = round_up(rows_ * sizeof(RowHeader), kAlignment);
  for (const PlanTensor& tensor : stage.pool.tensors) {
    arrays.push_back({end, tensor.row_stride});
    end = round_up(end + rows_ * tensor.row_stride, kAlignment);
  }
  memory_.resize(end + kAlignment);
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  std::byte* const base = memory_.data() + (round_up(address, kAlignment) - address);
  std::vector<RowPool> all(pools.begin(), pools.end());
  all[stage_index] = RowPool(base, rows_, std::move(arrays));
  return all;
}

void PrivateRows::copy_to_pool(std::uint64_t row, std::uint64_t number) const {
  for (std::size_t i = 0; i < planned_->tensors.size(); ++i) {
    const PlanTensor& tensor = planned_->tensors[i];
    const std::byte* const from = own_->row(i, row);
    std::byte* const to = pool_.row(i, number);
    if (!tensor.type.ragged()) {
      std::memcpy(to, from, tensor.row_bytes);
      continue;
    }
    // Its NAME.shape is the next array; it is copied in its turn, after it has been compared here.
    const auto rank = static_cast<int>(tensor.type.shape.size());
    const std::uint64_t element_bytes = dtype_bytes(tensor.type.dtype);
    const auto* sizes = reinterpret_cast<const std::int64_t*>(own_->row(i + 1, row));
    const auto* before = reinterpret_cast<const std::int64_t*>(pool_.row(i + 1, number));
    if (planned_->sparse)
      shrink_row(to, expected_tensor_bytes(tensor.type), element_bytes, before, sizes, rank);
    std::memcpy(to, from, element_bytes * element_count(sizes, rank));
  }
}

}  // namespace brigade
