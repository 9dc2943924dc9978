#pragma once

// The watermark of a task queue: every sample below it is done. Publication (a slot is readable
// when the writer's watermark has passed it), recycling (a slot is writable when the slowest
// reader's watermark has passed its last use) and the end of the stream all follow from this one
// monotone number.

#include <cstdint>

#include "transports/doorbell.h"
#include "transports/task_table.h"

namespace brigade {

template <class P>
struct Watermark {
  Line<P> level;
  Waiters<P> waiters;
};

/// How far the loop of advance() got.
struct Advanced {
  std::uint64_t from = 0;  ///< the watermark before the first step this caller won
  std::uint64_t to = 0;    ///< after the last one; equal to `from` when it moved nothing
};

/// Moves the watermark over every task that is DONE. Any replica of the stage and the supervisor
/// may run it at any time. "I finish, then look at the watermark" pairs with "I move the watermark,
/// then look at the word": both are seq_cst, else two finishers could miss each other and the
/// watermark would stand still. (What needs it is DONE and the load of the word; the watermark's
/// own load and CAS could be weaker, and cost the same on x86-64: docs/MODEL_CHECKING.md.) Slot
/// contents travel with DONE (release) -> the load here -> the CAS (release) -> a reader's acquire.
template <class P>
Advanced advance(Watermark<P>& watermark, const TaskTable<P>& table, std::uint64_t task_size) {
  Advanced advanced;
  for (;;) {
    P::point(FaultPoint::advance_loop);
    std::uint64_t level = watermark.level.value.load(std::memory_order_seq_cst);
    const std::uint64_t task = level / task_size;
    const auto seen = table.read(table.word(task).load(std::memory_order_seq_cst), task);
    if (seen.newer) continue;  // somebody moved the watermark in between
    if (seen.state != TaskState::done) return advanced;
    P::point(FaultPoint::advance_before_cas);
    if (watermark.level.value.compare_exchange_strong(level, level + task_size,
                                                      std::memory_order_seq_cst)) {
      if (advanced.from == advanced.to) advanced.from = level;
      advanced.to = level + task_size;
      P::point(FaultPoint::advance_after_cas);
    }
  }
}

/// Moves the watermark of a task queue without task words, for its one replica.
template <class P>
void publish(Watermark<P>& watermark, std::uint64_t level, WakeOrder order) {
  // Both pair with Neighbour::has(): they publish the slots. Against a sleeper: doorbell.h.
  if (order == WakeOrder::by_sleeper) {
    watermark.level.value.store(level, std::memory_order_release);
  } else {
    watermark.level.value.exchange(level, std::memory_order_seq_cst);
  }
}

}  // namespace brigade
