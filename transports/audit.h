#pragma once

// The books of an edge: produced = delivered + dropped + quarantined, and nothing leaked. Exact
// once every replica has ended or has been repaired; while the line runs, a snapshot that may be
// off by the tasks in work.

#include <cstdint>

#include "transports/repair.h"

namespace brigade {

struct EdgeAudit {
  /// FULL rows of the writer, but for those that the reader had consumed before this run.
  std::uint64_t produced = 0;
  std::uint64_t delivered = 0;  ///< FULL rows of the reader
  std::uint64_t dropped = 0;    ///< filtered, skipped or left out by drop_last
  std::uint64_t quarantined = 0;
  std::int64_t leaked = 0;  ///< rows published but not consumed, and tasks still claimed
};

/// Not-FULL rows of all replicas of a lane, by kind.
template <class P>
RowCounts lane_counts(const Control<P>& control, int stage, int lane) {
  const StageShape& shape = control.shape->stages[static_cast<std::size_t>(stage)];
  const LaneShape& lane_shape = shape.lanes[static_cast<std::size_t>(lane)];
  const LaneWords<P>& words =
      control.stages[static_cast<std::size_t>(stage)].lanes[static_cast<std::size_t>(lane)];
  RowCounts sum;
  for (int r = 0; r < shape.replicas; ++r) {
    const Tally<P>& tally = words.tallies[r];
    const auto owner = static_cast<std::uint8_t>(shape.first_replica + r);
    sum += tally.entries[counting_entry(tally, words, lane_shape, owner)].counts();
  }
  return sum;
}

template <class P>
std::uint64_t lane_low(const Control<P>& control, int stage, int lane) {
  return control.stages[static_cast<std::size_t>(stage)]
      .lanes[static_cast<std::size_t>(lane)]
      .mark->low.value.load(std::memory_order_acquire);
}

/// Samples that a lane finished as FULL, from its start on. A stage with a fan-out writes all rows
/// of these, and none of the others.
template <class P>
std::uint64_t full_rows(const Control<P>& control, int stage, int lane) {
  const std::uint64_t low =
      lane_low(control, stage, lane) - control.shape->stages[static_cast<std::size_t>(stage)]
                                           .lanes[static_cast<std::size_t>(lane)]
                                           .start;
  const std::uint64_t not_full = lane_counts(control, stage, lane).total();
  return low > not_full ? low - not_full : 0;
}

template <class P>
std::uint64_t claimed_tasks(const Control<P>& control, int stage, int lane) {
  const LaneWords<P>& words =
      control.stages[static_cast<std::size_t>(stage)].lanes[static_cast<std::size_t>(lane)];
  std::uint64_t claimed = 0;
  for (std::uint64_t slot = 0; slot < words.table.window(); ++slot) {
    const std::uint64_t word = words.table.lines()[slot].value.load(std::memory_order_acquire);
    if (TaskWord::unpack(word).state == TaskState::claimed) ++claimed;
  }
  return claimed;
}

/// The edge from stage `writer` to lane `lane` of stage `reader`, in rows of the writer's pool.
template <class P>
EdgeAudit audit_edge(const Control<P>& control, int writer, int reader, int lane) {
  EdgeAudit audit;
  const std::uint64_t fan_out = control.shape->stages[static_cast<std::size_t>(writer)].fan_out;
  const RowCounts counts = lane_counts(control, reader, lane);
  const std::uint64_t written = full_rows(control, writer, 0) * fan_out;
  audit.produced = written > counts.before ? written - counts.before : 0;
  audit.delivered = full_rows(control, reader, lane);
  audit.quarantined = counts.quarantined;
  const std::uint64_t explained = audit.delivered + audit.quarantined;
  audit.dropped = audit.produced > explained ? audit.produced - explained : 0;
  audit.leaked = static_cast<std::int64_t>(lane_low(control, writer, 0) * fan_out -
                                           lane_low(control, reader, lane)) +
                 static_cast<std::int64_t>(claimed_tasks(control, reader, lane));
  return audit;
}

}  // namespace brigade
