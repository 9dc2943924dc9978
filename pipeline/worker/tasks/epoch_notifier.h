#pragma once

// Notifies a stage of the end of an epoch: once the stage's watermark has passed
// the epoch, before the replica's next task, and at the end for the last one.
// Under `join: epochs` and `join: merge` each source's epoch has a separate end;
// all ends are notified in the same order, so that one may be late. The replica's
// `ended` word has the number of notified ends, stored after the call; a successor
// starts from it, so that an interrupted call is repeated: at least once.
//
// One replica's; one thread.

#include <cstdint>

#include <brigade/result.h>
#include "pipeline/worker/tasks/replica_context.h"
#include "transports/joined_queues.h"

namespace brigade {

class EpochNotifier {
 public:
  /// `stage`: null for an indexed producer, which only counts.
  EpochNotifier(const ReplicaContext& context, JoinedQueues<SystemPolicy>& queues, Stage* stage);

  /// Makes the calls that are due. Cheap when none is.
  Result<void> call_passed() {
    if (boundary_ != kNever && queues_->at(queue_).level() < boundary_) [[likely]]
      return {};
    return call_all_passed();
  }

  /// Whose end is told next, of any source.
  std::uint64_t epoch() const { return told_ / static_cast<std::uint64_t>(queues_->count()); }

 private:
  Result<void> call_all_passed();
  Result<void> call();
  void look_up_boundary();

  ReplicaContext context_;
  JoinedQueues<SystemPolicy>* queues_;
  Stage* stage_;
  std::uint64_t told_;               // ends, over all task queues
  QueueNumber queue_ = 0;            // of the next end
  std::uint64_t boundary_ = kNever;  // number past that epoch; kNever: unknown
};

}  // namespace brigade
