#include <algorithm>
#include <cstring>

#include "pipeline/plan/pool_layout.h"
#include "pipeline/run/cache_rows.h"
#include "pipeline/run/plan_ports.h"
#include "pipeline/run/ragged_rows.h"
#include "pipeline/run/task_work.h"

namespace brigade {
namespace {

class CacheWork final : public TaskWork {
 public:
  explicit CacheWork(const ReplicaContext& context)
      : context_(context),
        kept_(*context.stage, context.pools[static_cast<std::size_t>(context.stage_index)]),
        out_(context.pools[static_cast<std::size_t>(context.stage_index)]) {
    const PlanStage& stage = *context.stage;
    const PlanInput& input = stage.lanes[1].inputs.front();
    const auto source = static_cast<std::size_t>(input.stage);
    in_ = context.pools[source];
    const PlanPool& from = context.plan->stages[source].pool;
    for (std::size_t i = 0; i < stage.pool.tensors.size(); ++i) {
      const TensorType& type = stage.pool.tensors[i].type;
      if (is_shape_array(stage.pool, i)) continue;
      tensors_.push_back({array_index(from, type.name), i, stage.pool.tensors[i].row_bytes,
                          type.ragged() ? type.shape.size() : 0, dtype_bytes(type.dtype),
                          expected_tensor_bytes(type)});
    }
  }

  Result<TaskDone> work(int lane, std::uint64_t first) override {
    const std::uint64_t task = context_.stage->lanes[static_cast<std::size_t>(lane)].task;
    return lane == 0 ? give(first, task) : keep(first, task);
  }

 private:
  /// One tensor: its array in what is read, and in what is kept and given.
  struct Tensor {
    std::size_t in;
    std::size_t out;
    std::uint64_t row_bytes;
    std::size_t rank;  // of a ragged one, whose NAME.shape is the next array; else 0
    std::size_t element_bytes;
    std::uint64_t expected_bytes;
  };

  Result<TaskDone> keep(std::uint64_t first, std::uint64_t task) {
    const RowHeader* headers = in_.headers(first);
    TaskDone done;
    for (std::uint64_t i = 0; i < task; ++i) {
      const RowHeader& header = headers[i];
      if (header.state == RowState::pad) {
        ++done.not_full.pads;
        continue;
      }
      header.state == RowState::full ? ++done.full : ++done.not_full.holes;
      const std::uint64_t row = cache_row_of(*context_.plan, header);
      // Beyond the rows: `limit:`. There already: this task is done again.
      if (row >= kept_.rows() || kept_.state(row) != RowState::pad) continue;
      if (header.state == RowState::full) {
        for (const Tensor& tensor : tensors_)
          copy(tensor, in_.row(tensor.in, first + i), shape(in_, tensor.in, tensor, first + i),
               kept_.row(tensor.out, row),
               tensor.rank == 0 ? nullptr : kept_.row(tensor.out + 1, row));
      }
      kept_.keep(row, header.state);
    }
    return done;
  }

  Result<TaskDone> give(std::uint64_t first, std::uint64_t task) {
    if (sampler_.period() == 0) sampler_ = source_sampler(context_, *context_.stage);
    const Sampler::Place place = sampler_.place(first);
    sampler_.enter(place.epoch);
    RowHeader* headers = out_.headers(first);
    TaskDone done;
    for (std::uint64_t i = 0; i < task; ++i) {
      const std::uint64_t index = place.index + i;
      RowHeader& header = headers[i];
      header = {first + i, index, 0, place.epoch, RowState::pad, {}};
      if (index >= sampler_.samples()) {
        ++done.not_full.pads;
        continue;
      }
      const std::uint64_t row = sampler_.id(index);
      header.id = cached_id(*context_.plan, row);
      // Of a run that was stopped some rows never come.
      header.state = kept_.state(row) == RowState::full ? RowState::full : RowState::hole;
      header.state == RowState::full ? ++done.full : ++done.not_full.holes;
      if (header.state != RowState::full) continue;
      for (const Tensor& tensor : tensors_) {
        const std::byte* sizes = tensor.rank == 0 ? nullptr : kept_.row(tensor.out + 1, row);
        std::byte* to = out_.row(tensor.out, first + i);
        std::byte* to_sizes = shape(out_, tensor.out, tensor, first + i);
        if (sizes != nullptr && context_.stage->pool.sparse)
          shrink_row(to, tensor.expected_bytes, tensor.element_bytes,
                     reinterpret_cast<const std::int64_t*>(to_sizes),
                     reinterpret_cast<const std::int64_t*>(sizes), static_cast<int>(tensor.rank));
        copy(tensor, kept_.row(tensor.out, row), sizes, to, to_sizes);
      }
    }
    return done;
  }

  static std::byte* shape(const RowPool& pool, std::size_t array, const Tensor& tensor,
                          std::uint64_t number) {
    return tensor.rank == 0 ? nullptr : pool.row(array + 1, number);
  }

  static void copy(const Tensor& tensor, const std::byte* from, const std::byte* from_shape,
                   std::byte* to, std::byte* to_shape) {
    std::uint64_t bytes = tensor.row_bytes;
    if (tensor.rank != 0) {
      const auto* sizes = reinterpret_cast<const std::int64_t*>(from_shape);
      bytes = tensor.element_bytes * element_count(sizes, static_cast<int>(tensor.rank));
      std::memcpy(to_shape, from_shape, tensor.rank * sizeof(std::int64_t));
    }
    std::memcpy(to, from, bytes);
  }

  ReplicaContext context_;
  CacheRows kept_;
  RowPool in_;
  RowPool out_;
  std::vector<Tensor> tensors_;
  Sampler sampler_;
};

}  // namespace

std::unique_ptr<TaskWork> make_cache_work(const ReplicaContext& context) {
  return std::make_unique<CacheWork>(context);
}

}  // namespace brigade
