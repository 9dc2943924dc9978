#include "pipeline/worker/tasks/held_task.h"

#include <algorithm>
#include <utility>

namespace brigade {

KeptTasks::Place::Place(KeptTasks&, const ReplicaContext& context) : HeldTask(context) {
  for (RecordReader& reader : slots.readers) reader.set_keeper(*this);
}

KeptTasks::KeptTasks(const ReplicaContext& context, JoinedQueues<SystemPolicy>& queues)
    : context_(context), queues_(&queues) {
  for (std::uint64_t i = 0; i < context.stage->hold; ++i) places_.emplace_back(*this, context);
}

bool KeptTasks::none() const {
  return std::none_of(places_.begin(), places_.end(), [](const Place& place) {
    return place.held.load(std::memory_order_acquire);
  });
}

void KeptTasks::begin(QueueNumber queue, std::uint64_t task) {
  Place& place = next();
  place.queue = queue;
  place.task = task;
  place.finished = false;
  place.held.store(true, std::memory_order_relaxed);
  place.lease = Lease(&place, [self = shared_from_this()](const void* of) {
    self->give_back(*const_cast<Place*>(static_cast<const Place*>(of)));
  });
}

void KeptTasks::done(const SlotCounts& not_full) {
  Place& place = next();
  place.not_full = not_full;
  ++next_;
  std::exchange(place.lease, nullptr).reset();
  finish_returned();
}

void KeptTasks::give_back(Place& place) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  returned_.add(place);
  ring(context_.control->doorbells[context_.number()]);
}

void KeptTasks::finish_returned() {
  returned_.finish_all([this](HeldTask& task) {
    task.finish(*queues_);
    task.held.store(false, std::memory_order_release);
  });
}

void KeptTasks::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  for (Place& place : places_) place.lease.reset();  // its owner is this
}

}  // namespace brigade
