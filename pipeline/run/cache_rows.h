#pragma once

// What a cache keeps: a row per sample, behind the ring in the segment of its stage, as memory that
// all replicas of the stage share. A row is kept once: its state is stored last, and says that the
// rest is there. So a replica that dies while it writes one leaves a row that is not there yet, and
// whoever does the task again writes it anew.
//
// The row of a sample is its index in the source, so that the samples of the cache are those of the
// source, under the same ids. Several ranks each keep their own part: there it is the place in
// which this rank has read it, and its id follows from that (cached_id).
//
// Any replica of the stage; keep() of one row by one at a time, which holds the task it is in.

#include <atomic>
#include <cstring>
#include <vector>

#include "pipeline/plan/plan.h"
#include "pipeline/run/graph_shape.h"
#include "transports/row_pool.h"

namespace brigade {

/// Where a cache keeps the sample of this header.
inline std::uint64_t cache_row_of(const Plan& plan, const RowHeader& header) {
  return plan.shard.world == 1 ? header.id : header.index;
}

/// The id of the sample in this row of a cache.
inline std::uint64_t cached_id(const Plan& plan, std::uint64_t row) {
  return row * plan.shard.world + plan.shard.rank;
}

class CacheRows {
 public:
  /// `pool`: the ring of the cache's stage, at the beginning of its segment.
  CacheRows(const PlanStage& stage, const RowPool& pool)
      : rows_(reinterpret_cast<std::byte*>(pool.headers(0)) + stage.pool.bytes, stage.cache.rows,
              row_arrays(stage.cache)) {}

  std::uint64_t rows() const { return rows_.rows(); }
  std::byte* row(std::size_t array, std::uint64_t row) const { return rows_.row(array, row); }

  /// `pad` for one that is not there (yet). What it holds may be read when it is full.
  RowState state(std::uint64_t row) const {
    // Pairs with keep().
    const auto state = static_cast<RowState>(word(row).load(std::memory_order_acquire));
    return state == RowState::full || state == RowState::hole ? state : RowState::pad;
  }

  /// After the row's tensors have been written, or for a sample that there is not.
  void keep(std::uint64_t row, RowState state) const {
    word(row).store(static_cast<std::uint64_t>(state), std::memory_order_release);
  }

 private:
  /// Of a row's header only one word is used.
  std::atomic_ref<std::uint64_t> word(std::uint64_t row) const {
    return std::atomic_ref<std::uint64_t>(rows_.headers(row)->number);
  }

  RowPool rows_;
};

}  // namespace brigade
