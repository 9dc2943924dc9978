#pragma once

// How far a cache can output its samples: the number before which every
// sample has been cached. Private to one replica; it checks a sample at
// most once per epoch, and only while the cache is being filled.

#include <algorithm>

#include "pipeline/records/cache_slots.h"
#include "pipeline/records/sampler.h"
#include "pipeline/worker/tasks/replica_context.h"

namespace brigade {

class CacheProgress {
 public:
  explicit CacheProgress(const ReplicaContext& context)
      : context_(context),
        cached_(*context.stage, context.own_ring()),
        level_(&context.words().queues[0].watermark->level.value) {}

  /// 0 until the run has begun: before that nobody knows how many samples there are.
  std::uint64_t operator()() {
    const auto& samples = context_.index_space_of(0).epoch_samples.value;
    if (samples.load(std::memory_order_acquire) == kNever) return 0;
    if (sampler_.period() == 0) sampler_ = source_sampler(context_, *context_.stage);
    const std::uint64_t level = level_->load(std::memory_order_acquire);
    number_ = std::max(number_, level);
    // Nobody can claim further ahead than the ring is long.
    for (const std::uint64_t last = level + 2 * context_.stage->ring.slots; number_ < last;
         ++number_) {
      const SamplePosition place = sampler_.place(number_);
      if (place.index >= sampler_.samples()) continue;  // padding
      sampler_.enter(place.epoch);
      if (cached_.state(sampler_.id(place.index)) == SlotState::pad) break;
    }
    return number_;
  }

 private:
  ReplicaContext context_;
  CacheSlots cached_;
  SystemPolicy::Atomic<std::uint64_t>* level_;
  Sampler sampler_;
  std::uint64_t number_ = 0;
};

}  // namespace brigade
