#pragma once

// The audit of an edge: produced = delivered + dropped + quarantined,
// and nothing leaked; for an application, unread replaces quarantined.
// Exact once every replica has ended or has been repaired; while the
// pipeline runs, a snapshot that may be off by the tasks in progress.

#include <cstdint>

#include "transports/repair.h"

namespace brigade {

struct EdgeAudit {
  /// FULL slots of the writer, but for those that the reader had consumed before this run.
  std::uint64_t produced = 0;
  std::uint64_t delivered = 0;  ///< FULL slots of the reader
  std::uint64_t dropped = 0;    ///< filtered, skipped or dropped by drop_last
  std::uint64_t quarantined = 0;
  std::int64_t leaked = 0;   ///< slots published but not consumed, and tasks still claimed
  std::uint64_t unread = 0;  ///< came after the program had closed its output
};

/// Not-FULL slots of all replicas of a task queue, by kind.
template <class P>
SlotCounts queue_counts(const Control<P>& control, StageNumber stage, QueueNumber queue) {
  const StageShape& shape = control.shape->stages[stage];
  const QueueShape& queue_shape = shape.queues[queue];
  const QueueWords<P>& words = control.stages[stage].queues[queue];
  SlotCounts sum;
  for (int r = 0; r < shape.replicas; ++r) {
    const Tally<P>& tally = words.tallies[r];
    const auto owner = static_cast<std::uint8_t>(shape.first_replica + r);
    sum += tally.entries[counting_entry(tally, words, queue_shape, owner)].counts();
  }
  return sum;
}

template <class P>
std::uint64_t queue_level(const Control<P>& control, StageNumber stage, QueueNumber queue) {
  return control.stages[stage].queues[queue].watermark->level.value.load(std::memory_order_acquire);
}

/// Samples that a task queue finished as FULL, from its start on. A stage with a fan-out writes all
/// slots of these, and none of the others.
template <class P>
std::uint64_t full_slots(const Control<P>& control, StageNumber stage, QueueNumber queue) {
  const std::uint64_t level =
      queue_level(control, stage, queue) - control.shape->stages[stage].queues[queue].start;
  const std::uint64_t not_full = queue_counts(control, stage, queue).total();
  return level > not_full ? level - not_full : 0;
}

template <class P>
std::uint64_t claimed_tasks(const Control<P>& control, StageNumber stage, QueueNumber queue) {
  const QueueWords<P>& words = control.stages[stage].queues[queue];
  std::uint64_t claimed = 0;
  for (std::uint64_t entry = 0; entry < words.table.window(); ++entry) {
    const std::uint64_t word = words.table.lines()[entry].value.load(std::memory_order_acquire);
    if (TaskWord::unpack(word).state == TaskState::claimed) ++claimed;
  }
  return claimed;
}

/// The edge from stage `writer` to task queue `queue` of stage `reader`, in slots of the writer's
/// ring.
template <class P>
EdgeAudit audit_edge(const Control<P>& control, StageNumber writer, StageNumber reader,
                     QueueNumber queue) {
  EdgeAudit audit;
  const std::uint64_t fan_out = control.shape->stages[writer].fan_out;
  const SlotCounts counts = queue_counts(control, reader, queue);
  const std::uint64_t written = full_slots(control, writer, 0) * fan_out;
  audit.produced = written > counts.consumed ? written - counts.consumed : 0;
  audit.delivered = full_slots(control, reader, queue);
  const bool application = control.shape->stages[reader].application;
  (application ? audit.unread : audit.quarantined) = counts.quarantined;
  const std::uint64_t explained = audit.delivered + counts.quarantined;
  audit.dropped = audit.produced > explained ? audit.produced - explained : 0;
  audit.leaked = static_cast<std::int64_t>(queue_level(control, writer, 0) * fan_out -
                                           queue_level(control, reader, queue)) +
                 static_cast<std::int64_t>(claimed_tasks(control, reader, queue));
  return audit;
}

}  // namespace brigade
