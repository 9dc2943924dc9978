#pragma once

// The repair by the supervisor after a replica's pidfd fired (all its threads are gone),
// before a new replica starts under the same number. The order is part of the protocol:
//
//   settle the tally, reopen claimed tasks, advance the watermark, clear waiter bits, count the
//   repair, ring
//
// No list of lost work is needed: the next replica that looks finds the lowest OPEN task.
// Never blocks; may run while all other replicas continue. One thread of the supervisor only.

#include <cstdint>
#include <span>

#include "transports/flat_map_queues.h"
#include "transports/layout.h"

namespace brigade {

/// Each rule can be switched off by a test, to show that the tests notice.
struct RepairRules {
  bool settle = true;
  bool reopen = true;
  bool advance = true;
  bool clear = true;
  bool count = true;
  bool ring = true;
};

struct RepairReport {
  std::uint64_t reopened = 0;        ///< tasks that will be done again
  std::uint64_t advanced_slots = 0;  ///< slots that were done but not yet published
};

/// The entry of a tally that counts: the newest whose task is no longer in work.
template <class P>
int counting_entry(const Tally<P>& tally, const QueueWords<P>& queue, const QueueShape& shape,
                   std::uint8_t owner) {
  const int newest = tally.newest();
  const TallyEntry<P>& entry = tally.entries[newest];
  if (entry.sequence.load(std::memory_order_acquire) == 0) return newest;
  const std::uint64_t task = entry.task.load(std::memory_order_relaxed);
  if (shape.in_order) {
    const std::uint64_t level = queue.watermark->level.value.load(std::memory_order_acquire);
    return task * shape.task < level ? newest : 1 - newest;
  }
  const auto seen = queue.table.read(queue.table.word(task).load(std::memory_order_acquire), task);
  const bool in_work = !seen.newer && seen.state == TaskState::claimed && seen.owner == owner;
  return in_work ? 1 - newest : newest;
}

namespace detail {

template <class P>
void settle_tally(Tally<P>& tally, const QueueWords<P>& queue, const QueueShape& shape,
                  std::uint8_t owner) {
  const int counting = counting_entry(tally, queue, shape, owner);
  if (counting == tally.newest()) return;
  const TallyEntry<P>& good = tally.entries[counting];
  TallyEntry<P>& other = tally.entries[1 - counting];
  const SlotCounts counts = good.counts();
  other.task.store(good.task.load(std::memory_order_relaxed), std::memory_order_relaxed);
  other.pads.store(counts.pads, std::memory_order_relaxed);
  other.empty_slots.store(counts.empty_slots, std::memory_order_relaxed);
  other.dropped.store(counts.dropped, std::memory_order_relaxed);
  other.quarantined.store(counts.quarantined, std::memory_order_relaxed);
  other.samples_done.store(counts.samples_done, std::memory_order_relaxed);
  other.consumed.store(counts.consumed, std::memory_order_relaxed);
  // Release pairs with newest(); the next incarnation reads it after exec anyway.
  other.sequence.store(good.sequence.load(std::memory_order_relaxed), std::memory_order_release);
}

template <class P>
std::uint64_t reopen_tasks(const QueueWords<P>& queue, std::uint8_t owner) {
  std::uint64_t reopened = 0;
  for (std::uint64_t entry = 0; entry < queue.table.window(); ++entry) {
    auto& word = queue.table.lines()[entry].value;
    TaskWord fields = TaskWord::unpack(word.load(std::memory_order_acquire));
    if (fields.state != TaskState::claimed || fields.owner != owner) continue;
    fields.state = TaskState::open;
    fields.owner = 0;
    word.store(fields.pack(), std::memory_order_release);  // pairs with try_claim()'s CAS
    ++reopened;
  }
  return reopened;
}

template <class P>
void clear_waiters_everywhere(Control<P>& control, int replica) {
  for (StageWords<P>& stage : control.stages) {
    for (QueueWords<P>& queue : stage.queues) clear_waiter(queue.watermark->waiters, replica);
  }
}

template <class P>
void ring_stage(Control<P>& control, const StageShape& stage) {
  for (int r = 0; r < stage.replicas; ++r) ring(control.doorbells[stage.first_replica + r]);
}

}  // namespace detail

template <class P>
void ring_everybody(Control<P>& control) {
  for (const StageShape& stage : control.shape->stages) detail::ring_stage(control, stage);
}

/// `replica`: of the stage. `poisoned`: sample numbers to quarantine before their task is reopened.
template <class P>
RepairReport repair(Control<P>& control, StageNumber stage, int replica,
                    std::span<const std::uint64_t> poisoned = {}, const RepairRules& rules = {}) {
  const StageShape& shape = control.shape->stages[stage];
  StageWords<P>& words = control.stages[stage];
  const auto owner = static_cast<std::uint8_t>(shape.first_replica + replica);
  RepairReport report;
  if (rules.settle) settle_journal(words);
  for (const QueueNumber l : words.queues.numbers()) {
    QueueWords<P>& queue = words.queues[l];
    if (rules.settle) detail::settle_tally(queue.tallies[replica], queue, shape.queues[l], owner);
  }
  P::point(FaultPoint::repair_settled);
  for (std::uint64_t number : poisoned) words.quarantine.append(number);
  for (const QueueNumber l : words.queues.numbers()) {
    if (rules.reopen) report.reopened += detail::reopen_tasks(words.queues[l], owner);
  }
  P::point(FaultPoint::repair_reopened);
  for (const QueueNumber l : words.queues.numbers()) {
    if (!rules.advance || shape.queues[l].in_order) continue;
    const Advanced moved =
        advance(*words.queues[l].watermark, words.queues[l].table, shape.queues[l].task);
    report.advanced_slots += moved.to - moved.from;
  }
  P::point(FaultPoint::repair_advanced);
  if (rules.clear) detail::clear_waiters_everywhere(control, owner);
  P::point(FaultPoint::repair_cleared);
  control.replicas[owner].in_flight.value.store(kNever, std::memory_order_relaxed);
  if (rules.count) {
    words.repairs->value.fetch_add(1, std::memory_order_acq_rel);  // pairs with try_claim()
  }
  P::point(FaultPoint::repair_counted);
  // Not the neighbours alone: the dead may have stored an end and owed its wake-up to a stage far
  // down (docs/MODEL_CHECKING.md, point 1).
  if (rules.ring) ring_everybody(control);
  return report;
}

}  // namespace brigade
