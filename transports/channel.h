#pragma once

// How a replica gets its work: claim a task, process it, finish it.
// One Channel connects one replica to one task queue of its stage;
// nothing else in Brigade moves data. Call order, from one thread:
//
//   (try_claim finish)* , with claim_or_wait() (transports/wait.h) in place of try_claim to sleep
//
// A replica that waits holds nothing: neither an input nor memory. Claim and owner are
// recorded by one compare-and-swap, the commit is one store, so at every instant a
// word names the owner. With one replica that works in order no task words are used:
// the watermark itself is the claim and the commit, and 1 -> 1 is a Lamport ring.
//
// An application (StageShape::application) holds several claims and may finish() them in any
// order, one at a time, on another thread than the claiming one. It sees ends and turns once
// it has claimed everything before them: it still holds the last batch when it asks for the
// next. It may take tasks in the order in which upstream finishes them: take_any_order().

#include <algorithm>
#include <cstdint>
#include <vector>

#include "transports/attempt.h"
#include "transports/epochs.h"
#include "transports/layout.h"
#include "transports/neighbour.h"

namespace brigade {

template <class P>
class Channel {
 public:
  /// Replica `replica` (0.. within the stage) of `stage`, on its task queue `queue`.
  Channel(Control<P>& control, StageNumber stage, QueueNumber queue, int replica);

  std::uint64_t task_size() const { return task_size_; }
  std::uint64_t level() const { return watermark_->level.value.load(std::memory_order_acquire); }
  /// What its replica goes by at an end; of an application what it has claimed. After a claim.
  std::uint64_t passed() const { return claims_count_ ? cursor_ * task_size_ : level(); }
  std::uint64_t end() const { return end_->load(std::memory_order_acquire); }
  Watermark<P>& watermark() { return *watermark_; }
  Attempt<P> try_claim();
  /// Commits a task this replica holds: publishes its slots, consumes its inputs, ends its lease.
  /// Rings who sleeps until there.
  void finish(std::uint64_t task, const SlotCounts& not_full = {});
  /// Notes down the slots of a held task that are not FULL; finish() does, unless this has.
  void count(std::uint64_t task, const SlotCounts& not_full);

  /// An end this replica knows before the index space's word is set (a source knows its size).
  void set_own_end(std::uint64_t end) { own_end_ = end; }
  /// Of an application, before its first claim: it claims whatever is DONE above, not only what
  /// lies below the watermarks there. A slot that is DONE stays as it is until this task queue's
  /// watermark has passed it, and a repair never opens its task again.
  void take_any_order() { any_order_ = !in_order_; }
  /// From now on the task queue ends with this epoch, as soon as it is known where that ends.
  void set_epoch(std::uint64_t epoch) { epoch_ = epoch; }
  const IndexSpaceEpochs<P>& epochs() const { return epochs_; }

  /// Adds the watermarks that can unblock a claim.
  void add_neighbours(std::vector<Watermark<P>*>& watermarks) const {
    watermarks.push_back(watermark_);
    for (const Neighbour<P>& input : inputs_) watermarks.push_back(input.watermark);
    for (const Neighbour<P>& reader : readers_) watermarks.push_back(reader.watermark);
  }

 private:
  using Word = typename P::template Atomic<std::uint64_t>;

  std::uint64_t first_task() const;
  void refresh_after_repair();
  Attempt<P> at_end(std::uint64_t end);
  Attempt<P> claim_done();
  std::uint64_t epoch_end() const { return epoch_ == kNever ? kNever : epochs_.end(epoch_); }
  std::uint64_t next_end() const {  // of the task queue, or of its turn
    return std::min({end_->load(std::memory_order_seq_cst), own_end_, epoch_end()});
  }

  Watermark<P>* watermark_;
  TaskTable<P> table_;
  Tally<P>* tally_;
  Word* end_;
  Word* stop_ = nullptr;  // sources only
  Word* ack_;
  Word* repairs_;
  std::vector<Neighbour<P>> inputs_;
  std::vector<Neighbour<P>> readers_;
  std::uint64_t task_size_;
  std::uint64_t fan_out_;
  std::uint64_t stride_ = 1;  // assign: fixed: R
  std::uint64_t turn_ = 0;    // the first of its tasks
  std::uint64_t own_end_ = kNever;
  IndexSpaceEpochs<P> epochs_;
  std::uint64_t epoch_ = kNever;  // the last one to be claimed from; kNever: all
  std::uint8_t me_;
  bool in_order_;
  bool claims_count_;  // of an application
  bool any_order_ = false;

  std::uint64_t cursor_ = 0;
  std::uint64_t seen_repairs_ = kNever;  // the first claim looks at the watermark
  std::uint64_t sequence_ = 0;           // of the tally
  SlotCounts counts_;
  Waker<P> waker_;
};

template <class P>
Channel<P>::Channel(Control<P>& control, StageNumber stage, QueueNumber queue, int replica) {
  const StageShape& shape = control.shape->stages[stage];
  const QueueShape& queue_shape = shape.queues[queue];
  StageWords<P>& words = control.stages[stage];
  QueueWords<P>& queue_words = words.queues[queue];
  const int global = shape.first_replica + replica;
  IndexSpaceWords<P>* index_space = control.index_spaces[queue_shape.index_space];

  watermark_ = queue_words.watermark;
  table_ = queue_words.table;
  tally_ = &queue_words.tallies[replica];
  end_ = &index_space->end.value;
  if (shape.source && queue == 0) stop_ = &index_space->stop.value;
  ack_ = &control.replicas[global].ack.value;
  repairs_ = &words.repairs->value;
  epochs_ = {control, queue_shape.index_space};
  task_size_ = queue_shape.task;
  fan_out_ = shape.fan_out;
  waker_ = {control.doorbells, control.waiter_words(), control.wake_order};
  in_order_ = queue_shape.in_order;
  claims_count_ = shape.application;
  if (queue_shape.fixed) stride_ = static_cast<std::uint64_t>(shape.replicas);
  if (queue_shape.fixed) turn_ = static_cast<std::uint64_t>(replica);
  me_ = static_cast<std::uint8_t>(global);

  inputs_ = neighbours_above(control, queue_shape);
  if (queue == 0) readers_ = neighbours_below(control, stage);  // 0 writes
  sequence_ = tally_->entries[tally_->newest()].sequence.load(std::memory_order_relaxed);
  counts_ = tally_->entries[tally_->newest()].counts();  // settled by the repair
}

/// The lowest task that this replica may still find open.
template <class P>
std::uint64_t Channel<P>::first_task() const {
  const std::uint64_t task = level() / task_size_;
  if (stride_ == 1) return task;
  return task + (turn_ + stride_ - task % stride_) % stride_;
}

template <class P>
void Channel<P>::refresh_after_repair() {
  const std::uint64_t repairs = repairs_->load(std::memory_order_acquire);  // pairs with repair()
  if (repairs == seen_repairs_) return;
  seen_repairs_ = repairs;
  cursor_ = first_task();
}

template <class P>
Attempt<P> Channel<P>::at_end(std::uint64_t end) {
  // seq_cst: part of the sleeper's "look again" (doorbell.h).
  if (claims_count_ || watermark_->level.value.load(std::memory_order_seq_cst) >= end)
    return {Look::ended};
  return {Look::blocked, 0, watermark_, Cause::end, end};
}

template <class P>
Attempt<P> Channel<P>::claim_done() {
  for (;;) {
    const std::uint64_t end = next_end();
    const std::uint64_t beyond = std::min(end / task_size_, level() / task_size_ + table_.window());
    const std::uint64_t task = find_done(table_, inputs_, task_size_, beyond, cursor_);
    if (task == kNever && (cursor_ + 1) * task_size_ > end) return at_end(end);
    if (task == kNever)
      return {Look::blocked, 0, inputs_.front().watermark, Cause::input, kAnyDone};
    if ((task + 1) * task_size_ > epoch_end()) continue;  // which these inputs say now, as below
    const std::uint64_t word = table_.word(task).load(std::memory_order_acquire);
    if (!table_.claim(task, word, me_)) continue;
    P::point(FaultPoint::claim_after_cas);
    return {Look::claimed, task};
  }
}

template <class P>
Attempt<P> Channel<P>::try_claim() {
  P::point(FaultPoint::claim_start);
  refresh_after_repair();
  if (any_order_) return claim_done();
  if (stop_ != nullptr &&
      stop_->load(std::memory_order_seq_cst) == static_cast<std::uint64_t>(Stop::asked)) {
    ack_->store(1, std::memory_order_seq_cst);
    return {Look::blocked, 0, nullptr, Cause::stop};
  }
  for (;;) {
    const std::uint64_t task = cursor_;
    const std::uint64_t last = (task + 1) * task_size_;
    const std::uint64_t end = next_end();
    if (last > end) return at_end(end);
    for (Neighbour<P>& reader : readers_)
      if (!reader.has(last * fan_out_)) return reader.blocks(last * fan_out_, Cause::memory);
    std::uint64_t word = 0;
    if (!in_order_) {
      word = table_.word(task).load(std::memory_order_acquire);
      const auto seen = table_.read(word, task);
      if (seen.newer) {  // the watermark has passed it, perhaps long ago: catch up in one step
        cursor_ = std::max(task + stride_, first_task());
        continue;
      }
      if (seen.state != TaskState::open) {
        cursor_ += stride_;
        continue;
      }
    }
    for (Neighbour<P>& input : inputs_)
      if (!input.has(last)) return input.blocks(last, Cause::input);
    // Ends are recorded before any slot beyond them is published: beyond an end that was not known
    // above, these inputs say it now.
    if (last > epoch_end()) continue;
    if (!in_order_) {
      if (!table_.claim(task, word, me_)) continue;  // somebody else has it: look again
      cursor_ += stride_;
    }
    P::point(FaultPoint::claim_after_cas);
    return {Look::claimed, task};
  }
}

template <class P>
void Channel<P>::count(std::uint64_t task, const SlotCounts& not_full) {
  if (not_full.none()) return;  // the last entry still holds
  counts_ += not_full;
  tally_->write(++sequence_, task, counts_);
}

template <class P>
void Channel<P>::finish(std::uint64_t task, const SlotCounts& not_full) {
  P::point(FaultPoint::finish_start);
  count(task, not_full);
  P::point(FaultPoint::finish_after_tally);
  if (in_order_) {
    const std::uint64_t level = (task + 1) * task_size_;
    publish(*watermark_, level, waker_.order());
    P::point(FaultPoint::finish_after_done);
    ++cursor_;
    return waker_.moved(watermark_->waiters, level);
  }
  if (any_order_) bring_along(inputs_, waker_);
  table_.word(task).exchange(table_.done(task, me_), std::memory_order_seq_cst);
  P::point(FaultPoint::finish_after_done);
  const Advanced moved = advance(*watermark_, table_, task_size_);
  const std::uint64_t level = moved.from != moved.to ? moved.to : kAnyDone;
  if (level != kAnyDone || have_program(readers_)) waker_.moved(watermark_->waiters, level);
}

}  // namespace brigade
