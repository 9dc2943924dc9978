#pragma once

// A task that stays claimed when its slots have been shown, until whoever reads them lets go, on
// any thread: a batch that a program holds (pipeline/program), or that a stage keeps
// (kept_tasks.h). It is shown by readers of its own, whose views stay as they are meanwhile.

#include <concurrentqueue/concurrentqueue.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>

#include "pipeline/tasks/slot_io.h"
#include "transports/joined_queues.h"

namespace brigade {

struct HeldTask {
  SlotIo slots;
  std::atomic<bool> held{false};  ///< until its place may be used again
  bool finished = true;           ///< of whoever finishes, as what follows
  QueueNumber queue = 0;
  std::uint64_t task = 0;
  SlotCounts not_full;

  explicit HeldTask(const ReplicaContext& context) : slots(context) {}

  /// Once; not again.
  void finish(JoinedQueues<SystemPolicy>& queues) {
    if (!std::exchange(finished, true)) queues.finish(queue, task, not_full);
  }
};

/// Tasks that were let go. Who gives one back may finish all that are there; one at a time does,
/// looks again afterwards, so that none is left, and nobody waits for that turn.
class ReturnedTasks {
 public:
  void add(HeldTask& task) { returned_.enqueue(&task); }

  /// `finish(HeldTask&)`, unless somebody else is at it, who then does. Any thread.
  template <class Finish>
  void finish_all(Finish&& finish) {
    do {
      // Both exchanges are read-modify-writes of one word: what somebody enqueued who was turned
      // away here is there for the look behind the other's second one.
      if (finishing_.exchange(true, std::memory_order_acq_rel)) return;
      HeldTask* task = nullptr;
      while (returned_.try_dequeue(task)) finish(*task);
      finishing_.exchange(false, std::memory_order_acq_rel);
    } while (returned_.size_approx() != 0);
  }

  /// Waits for the turn.
  template <class Work, class Finish>
  void in_turn(Work&& work, Finish&& finish) {
    while (finishing_.exchange(true, std::memory_order_acq_rel)) std::this_thread::yield();
    work();
    finishing_.exchange(false, std::memory_order_acq_rel);
    if (returned_.size_approx() != 0) finish_all(finish);
  }

 private:
  moodycamel::ConcurrentQueue<HeldTask*> returned_;
  std::atomic<bool> finishing_{false};
};

}  // namespace brigade
