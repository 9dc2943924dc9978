#pragma once

// The tasks that a consumer keeps when process() has returned (contract: holds()), at most
// `hold:` of them, counted from the oldest one. Whoever drops the last lease of one, on any thread,
// rings the replica's doorbell; the loop, asleep or not, then finishes the task. So all words are
// written by the loop alone, and a replica that dies holds what its task words say.
//
// The loop's, but for leases. After close() leases that are still there return nothing.

#include <deque>
#include <memory>
#include <mutex>

#include <brigade/record.h>
#include "pipeline/tasks/held_task.h"
#include "pipeline/tasks/replica_context.h"

namespace brigade {

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
