#include <algorithm>
#include <cstring>

#include "pipeline/plan/cache_key.h"
#include "pipeline/plan/caches.h"
#include "pipeline/plan/ring_layout.h"
#include "pipeline/records/cache_slots.h"
#include "pipeline/records/record_field.h"
#include "pipeline/records/ring_ports.h"
#include "pipeline/worker/replica/work.h"

namespace brigade {
namespace {

class CacheWork final : public Work {
 public:
  explicit CacheWork(const ReplicaContext& context)
      : context_(context), cached_(*context.stage, context.own_ring()), out_(context.own_ring()) {
    const PlanStage& stage = *context.stage;
    const PlanInput& input = stage.queues[1].inputs.front();
    in_ = (*context.rings)[input.stage];
    source_ = &id_source(*context.plan, stage, QueueNumber(1));
    fan_out_ = context.plan->index_spaces[stage.queues[1].index_space].fan_out;
    if (!cache_file(stage).empty()) file_arrays_ = cache_file_header(stage, "").arrays;
    const PlanRing& from = context.plan->stages[input.stage].ring;
    for (std::size_t i = 0; i < stage.ring.tensors.size(); ++i) {
      const TensorType& type = stage.ring.tensors[i].type;
      if (is_shape_array(stage.ring, i)) continue;
      tensors_.push_back({array_index(from, type.name), i, stage.ring.tensors[i].slot_bytes,
                          type.ragged() ? type.shape.size() : 0, dtype_bytes(type.dtype),
                          expected_tensor_bytes(type)});
    }
  }

  Result<TaskDone> work(QueueNumber queue, std::uint64_t first) override {
    const std::uint64_t task = context_.stage->queues[queue].task;
    return queue == 0 ? give(first, task) : keep(first, task);
  }

 private:
  /// One tensor: its array in what is read, and in what is cached and given.
  struct Tensor {
    std::size_t in;
    std::size_t out;
    std::uint64_t slot_bytes;
    std::size_t rank;  // of a ragged one, whose NAME.shape is the next array; else 0
    std::size_t element_bytes;
    std::uint64_t expected_bytes;
  };

  Result<TaskDone> keep(std::uint64_t first, std::uint64_t task) {
    const SlotHeader* headers = in_.headers(first);
    TaskDone done;
    for (std::uint64_t i = 0; i < task; ++i) {
      const SlotHeader& header = headers[i];
      if (header.state == SlotState::pad) {
        ++done.not_full.pads;
        continue;
      }
      header.state == SlotState::full ? ++done.full : ++done.not_full.empty_slots;
      const std::uint64_t slot = slot_of(header);
      // Beyond the chunk: `limit:`. There already: this task is done again.
      if (slot >= cached_.slots() || cached_.state(slot) != SlotState::pad) continue;
      if (header.state == SlotState::full) {
        for (const Tensor& tensor : tensors_)
          copy(tensor, in_.slot(tensor.in, first + i), shape(in_, tensor.in, tensor, first + i),
               cached_.slot(tensor.out, slot),
               tensor.rank == 0 ? nullptr : cached_.slot(tensor.out + 1, slot));
      }
      if (!file_arrays_.empty()) {
        const auto state = static_cast<std::uint64_t>(header.state);
        store_cache_checksum(cached_.data(), slot,
                             cache_slot_checksum(file_arrays_, cached_.data(), slot, state));
      }
      cached_.keep(slot, header.state);
    }
    return done;
  }

  Result<TaskDone> give(std::uint64_t first, std::uint64_t task) {
    if (sampler_.period() == 0) sampler_ = source_sampler(context_, *context_.stage);
    const SamplePosition place = sampler_.place(first);
    sampler_.enter(place.epoch);
    const auto epoch = static_cast<std::uint32_t>(place.epoch);
    SlotHeader* headers = out_.headers(first);
    TaskDone done;
    for (std::uint64_t i = 0; i < task; ++i) {
      const std::uint64_t index = place.index + i;
      SlotHeader& header = headers[i];
      header = {{first + i, index, 0, epoch}, SlotState::pad};
      if (index >= sampler_.samples()) {
        ++done.not_full.pads;
        continue;
      }
      const std::uint64_t slot = sampler_.id(index);
      header.id = cached_id(*context_.plan, slot);
      // Of a run that was stopped some slots never come.
      header.state = cached_.state(slot) == SlotState::full ? SlotState::full : SlotState::empty;
      header.state == SlotState::full ? ++done.full : ++done.not_full.empty_slots;
      if (header.state != SlotState::full) continue;
      for (const Tensor& tensor : tensors_) {
        const std::byte* sizes = tensor.rank == 0 ? nullptr : cached_.slot(tensor.out + 1, slot);
        std::byte* to = out_.slot(tensor.out, first + i);
        std::byte* to_sizes = shape(out_, tensor.out, tensor, first + i);
        if (sizes != nullptr && context_.stage->ring.sparse)
          shrink_slot(to, tensor.expected_bytes, tensor.element_bytes,
                      reinterpret_cast<const std::int64_t*>(to_sizes),
                      reinterpret_cast<const std::int64_t*>(sizes), static_cast<int>(tensor.rank));
        copy(tensor, cached_.slot(tensor.out, slot), sizes, to, to_sizes);
      }
    }
    if (done.full == task) note_full(out_, first, task, context_.stage->replicas == 1);
    return done;
  }

  std::uint64_t slot_of(const SlotHeader& header) {
    const bool front = source_->is_cache() || is_front(*source_);
    if (front || context_.plan->shard.world != 1) return cache_slot_of(*context_.plan, header);
    if (above_.period() == 0) above_ = source_sampler(context_, *source_);
    above_.enter(header.epoch);
    return above_.position(header.index / fan_out_) * fan_out_ + header.index % fan_out_;
  }

  static std::byte* shape(const SlotRing& ring, std::size_t array, const Tensor& tensor,
                          std::uint64_t number) {
    return tensor.rank == 0 ? nullptr : ring.slot(array + 1, number);
  }

  static void copy(const Tensor& tensor, const std::byte* from, const std::byte* from_shape,
                   std::byte* to, std::byte* to_shape) {
    std::uint64_t bytes = tensor.slot_bytes;
    if (tensor.rank != 0) {
      const auto* sizes = reinterpret_cast<const std::int64_t*>(from_shape);
      bytes = tensor.element_bytes * element_count(sizes, static_cast<int>(tensor.rank));
      std::memcpy(to_shape, from_shape, tensor.rank * sizeof(std::int64_t));
    }
    std::memcpy(to, from, bytes);
  }

  ReplicaContext context_;
  CacheSlots cached_;
  SlotRing in_;
  SlotRing out_;
  std::vector<Tensor> tensors_;
  std::vector<CacheFileArray> file_arrays_;  // of a cache in a file
  Sampler sampler_;
  const PlanStage* source_;  // of the samples that it keeps
  std::uint64_t fan_out_;
  Sampler above_;  // of that source
};

}  // namespace

std::unique_ptr<Work> make_cache_work(const ReplicaContext& context) {
  return std::make_unique<CacheWork>(context);
}

}  // namespace brigade
