#pragma once

// Tasks that stay claimed after their slots have been shown, until the last reader releases
// them, on any thread: a batch that a program holds (HeldTask; pipeline/application), or that a
// stage keeps (KeptTasks). Each has separate readers, whose views do not change in the meantime.

#include <concurrentqueue/concurrentqueue.h>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <brigade/record.h>
#include "pipeline/worker/tasks/replica_context.h"
#include "pipeline/worker/tasks/slot_io.h"
#include "transports/joined_queues.h"

namespace brigade {

struct HeldTask {
  SlotIo slots;
  std::atomic<bool> held{false};  ///< until its place may be used again
  bool finished = true;           ///< of the thread that finishes, as what follows
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

/// The tasks that a consumer keeps when process() has returned (contract: holds()), at most `hold:`
/// of them, counted from the oldest one. The thread that drops the last lease of one rings the
/// replica's doorbell; the loop, asleep or not, then finishes the task. So all words are
/// written by the loop alone, and a replica that dies holds what its task words say.
///
/// The loop's, but for leases. After close() leases that are still there return nothing.
class KeptTasks : public std::enable_shared_from_this<KeptTasks> {
 public:
  static std::shared_ptr<KeptTasks> create(const ReplicaContext& context,
                                           JoinedQueues<SystemPolicy>& queues) {
    return std::shared_ptr<KeptTasks>(new KeptTasks(context, queues));
  }

  /// Whether no further task may be claimed now.
  bool full() const { return next().held.load(std::memory_order_acquire); }
  bool none() const;
  /// The readers of the next task.
  SlotIo& slots() { return next().slots; }
  /// The next task is shown from now on; it is finished when its last lease goes, not before
  /// done().
  void begin(QueueNumber queue, std::uint64_t task);
  void done(const SlotCounts& not_full);
  /// What has been returned.
  void finish_returned();
  /// Of a loop that has ended, also in the middle of a task.
  void close();

 private:
  struct Place : HeldTask, TaskKeeper {
    Place(KeptTasks& tasks, const ReplicaContext& context);
    Lease keep() override { return lease; }

    Lease lease;  // the loop's own, during the call
  };

  KeptTasks(const ReplicaContext& context, JoinedQueues<SystemPolicy>& queues);
  Place& next() { return places_[next_ % places_.size()]; }
  const Place& next() const { return places_[next_ % places_.size()]; }
  void give_back(Place& place);

  ReplicaContext context_;
  JoinedQueues<SystemPolicy>* queues_;
  std::deque<Place> places_;
  std::uint64_t next_ = 0;  // counts
  ReturnedTasks returned_;
  std::mutex mutex_;
  bool closed_ = false;  // of the mutex: the doorbell may be gone
};

}  // namespace brigade
