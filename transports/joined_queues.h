#pragma once

// Which task queue of a stage has the next task. A stage has one task queue (one source, or several
// zipped: a task covers the same numbers in all of them), except under `join: epochs`, where it has
// one per source: epoch 0 of the first source, epoch 0 of the second, ..., epoch 1 of the first,
// and so on; and under `join: merge`, where it takes available tasks of alternating task queues.
//
// Under `epochs` the position of a stage follows from its watermarks alone: the
// current turn is the first (epoch, task queue) whose watermark has not passed the
// end of that epoch. Replicas therefore agree without additional shared words, and a
// restart needs nothing. A turn begins when every task of the turn before it is done
// and, if the length of an epoch is not known in advance, when its end is known, too.
//
// A cache has two task queues: 0 outputs cached samples, 1 caches the samples that it
// reads. In task queue 0, only tasks whose samples have all been cached may be claimed,
// so that a replica that waits for one holds nothing; meanwhile it caches other samples.
//
// One replica's; one thread. Call order: (try_claim finish)*, as of a Channel.

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "transports/channel.h"

namespace brigade {

template <class P>
class JoinedQueues {
 public:
  JoinedQueues(Control<P>& control, StageNumber stage, int replica);

  /// A replica that waits for others of its stage to finish a turn is blocked on that task queue's
  /// watermark, Cause::barrier.
  Attempt<P> try_claim() {
    if (queues_.size() == 1) return queues_.front().try_claim();
    switch (interleave_) {
      case Interleave::epochs:
        return claim_in_turn();
      case Interleave::cache:
        return claim_of_cache();
      case Interleave::any:
        break;
    }
    return claim_any();
  }

  /// Of a cache: the number up to which everything that task queue 0 will give has been cached.
  void give_up_to(std::function<std::uint64_t()> cached_up_to) {
    cached_up_to_ = std::move(cached_up_to);
  }

  /// Of the task claimed last.
  QueueNumber queue() const { return queue_; }

  void finish(std::uint64_t task, const SlotCounts& not_full) { finish(queue_, task, not_full); }
  /// Of any task queue: an application finishes its tasks as its program lets them go.
  void finish(QueueNumber queue, std::uint64_t task, const SlotCounts& not_full) {
    queues_[queue].finish(task, not_full);
  }

  /// Of an application: Channel::take_any_order().
  void take_any_order() {
    for (Channel<P>& queue : queues_) queue.take_any_order();
    if (count() == 1) queues_.front().add_neighbours(watched_);  // of each that is zipped
  }

  /// From now on nothing is claimed beyond this epoch of each source: what is claimed has ended
  /// there.
  void set_last_epoch(std::uint64_t epoch) {
    last_epoch_ = epoch;
    if (interleave_ == Interleave::epochs && queues_.size() > 1) return;  // its turns have epochs
    for (Channel<P>& queue : queues_) queue.set_epoch(epoch);
  }
  /// Whether nothing is left of any task queue, in this epoch or later. After a claim has ended.
  bool all_ended() const;

  /// The watermarks that can unblock an attempt besides the one it names: of all task queues,
  /// unless they have turns.
  std::span<Watermark<P>* const> watched() const { return watched_; }

  int count() const { return static_cast<int>(queues_.size()); }
  Channel<P>& at(QueueNumber queue) { return queues_[queue]; }
  const Channel<P>& at(QueueNumber queue) const { return queues_[queue]; }

 private:
  Attempt<P> claim_in_turn();
  Attempt<P> claim_any();
  Attempt<P> claim_of_cache();
  void next_turn();

  Control<P>* control_;
  ByQueue<Channel<P>> queues_;
  std::vector<Watermark<P>*> watched_;
  std::function<std::uint64_t()> cached_up_to_;
  Interleave interleave_;
  QueueNumber queue_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint64_t last_epoch_ = kNever;
};

template <class P>
JoinedQueues<P>::JoinedQueues(Control<P>& control, StageNumber stage, int replica)
    : control_(&control), interleave_(control.shape->stages[stage].interleave) {
  const StageShape& shape = control.shape->stages[stage];
  for (const QueueNumber l : shape.queues.numbers())
    queues_.emplace_back(control, stage, l, replica);
  if (interleave_ == Interleave::epochs || queues_.size() == 1) return;
  for (Channel<P>& queue : queues_) queue.add_neighbours(watched_);
}

template <class P>
Attempt<P> JoinedQueues<P>::claim_in_turn() {
  for (;;) {
    if (epoch_ > last_epoch_) return {Look::ended};
    Channel<P>& queue = at(queue_);
    // The end of the turn is an end like that of the stream: a task queue that has reached it says
    // `ended`, one whose last tasks are in other hands is blocked on its own watermark.
    queue.set_epoch(epoch_);
    Attempt<P> found = queue.try_claim();
    if (found.look == Look::claimed) return found;
    if (found.look == Look::blocked) {
      if (found.cause == Cause::end) found.cause = Cause::barrier;
      return found;
    }
    if (is_aborting(*control_) || all_ended()) return found;
    next_turn();
  }
}

template <class P>
Attempt<P> JoinedQueues<P>::claim_any() {
  Attempt<P> best{Look::ended};
  for (int turn = 1; turn <= count(); ++turn) {
    const QueueNumber queue((queue_.value() + turn) % count());
    const Attempt<P> found = at(queue).try_claim();
    if (found.look == Look::claimed) {
      queue_ = queue;
      return found;
    }
    if (found.look == Look::ended) continue;
    if (best.look == Look::ended || found.cause == Cause::input) best = found;
  }
  return best;
}

template <class P>
Attempt<P> JoinedQueues<P>::claim_of_cache() {
  Channel<P>& gives = at(0);
  Channel<P>& keeps = at(1);
  // seq_cst, and before the samples are looked at: part of the sleeper's "look again" (doorbell.h).
  // Whoever keeps a sample moves this watermark afterwards.
  const std::uint64_t cached = keeps.watermark().level.value.load(std::memory_order_seq_cst);
  const bool full = cached >= keeps.end();  // what is not there now never will be
  if (full && is_aborting(*control_)) return {Look::ended};
  const bool begun = gives.end() != kNever;  // what is above may have ended before that is said
  gives.set_own_end(!begun ? 0 : full ? kNever : cached_up_to_());
  Attempt<P> given = gives.try_claim();
  queue_ = 0;
  if (given.look == Look::claimed) return given;
  Attempt<P> found = keeps.try_claim();
  if (found.look == Look::claimed) {
    queue_ = 1;
    return found;
  }
  // The end of what has been cached so far is none.
  if (given.look == Look::ended && gives.level() < gives.end())
    given = {Look::blocked, 0, &keeps.watermark(), Cause::input};
  if (found.look == Look::ended) return given;
  return given.look == Look::blocked && given.cause == Cause::memory ? given : found;
}

template <class P>
bool JoinedQueues<P>::all_ended() const {
  for (const Channel<P>& queue : queues_) {
    if (queue.passed() < queue.end()) return false;
  }
  return true;
}

template <class P>
void JoinedQueues<P>::next_turn() {
  if (queues_.has(++queue_)) return;
  queue_ = 0;
  ++epoch_;
}

}  // namespace brigade
