#pragma once

// How far a cache can give what it has to: the number before which every sample has been kept. One
// replica's own memory of it; each looks at a sample once an epoch at most, and only while the
// cache is being filled.

#include <algorithm>

#include "pipeline/run/cache_rows.h"
#include "pipeline/run/replica_context.h"
#include "pipeline/run/sampler.h"

namespace brigade {

class KeptUpTo {
 public:
  explicit KeptUpTo(const ReplicaContext& context)
      : context_(context),
        kept_(*context.stage, context.pools[static_cast<std::size_t>(context.stage_index)]),
        low_(&context.words().lanes[0].mark->low.value) {}

  /// 0 until the run has begun: before that nobody knows how many samples there are.
  std::uint64_t operator()() {
    const auto& samples = context_.domain_of(0).epoch_samples.value;
    if (samples.load(std::memory_order_acquire) == kNever) return 0;
    if (sampler_.period() == 0) sampler_ = source_sampler(context_, *context_.stage);
    const std::uint64_t low = low_->load(std::memory_order_acquire);
    number_ = std::max(number_, low);
    // Nobody can claim further ahead than the ring is long.
    for (const std::uint64_t last = low + 2 * context_.stage->pool.rows; number_ < last;
         ++number_) {
      const Sampler::Place place = sampler_.place(number_);
      if (place.index >= sampler_.samples()) continue;  // padding
      sampler_.enter(place.epoch);
      if (kept_.state(sampler_.id(place.index)) == RowState::pad) break;
    }
    return number_;
  }

 private:
  ReplicaContext context_;
  CacheRows kept_;
  SystemPolicy::Atomic<std::uint64_t>* low_;
  Sampler sampler_;
  std::uint64_t number_ = 0;
};

}  // namespace brigade
