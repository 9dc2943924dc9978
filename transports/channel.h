#pragma once

// A replica's way to its work: claim a task, work on it, finish it. One Channel is one replica's
// hold on one lane of its stage; nothing else in Brigade moves data. Call order, from one thread:
//
//   (try_claim finish)* , with claim_or_wait() (transports/wait.h) in place of try_claim to sleep
//
// A replica that waits holds nothing: neither an input nor memory. Claim and owner are recorded by
// one compare-and-swap, the commit is one store, so at every instant a word says who to ask. With
// one replica that works in order no task words are used: the mark itself is the claim and the
// commit, and 1 -> 1 is a Lamport ring.

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
  /// Replica `replica` (0.. within the stage) of `stage`, on its lane `lane`.
  Channel(Control<P>& control, int stage, int lane, int replica);

  std::uint64_t task_size() const { return task_size_; }
  std::uint64_t low() const { return mark_->low.value.load(std::memory_order_acquire); }
  std::uint64_t end() const { return end_->load(std::memory_order_acquire); }
  Mark<P>& mark() { return *mark_; }
  Attempt<P> try_claim();
  /// Commits a task this replica holds: publishes its rows, consumes its inputs, ends its lease.
  /// Rings who sleeps until there.
  void finish(std::uint64_t task, const RowCounts& not_full = {});
  /// Notes down the rows of a held task that are not FULL; finish() does, unless this has.
  void count(std::uint64_t task, const RowCounts& not_full);

  /// An end this replica knows before the domain's word is set (a source knows its size).
  void set_own_end(std::uint64_t end) { own_end_ = end; }
  /// From now on the lane ends with this epoch, as soon as it is known where that ends.
  void set_epoch(std::uint64_t epoch) { epoch_ = epoch; }
  const DomainEpochs<P>& epochs() const { return epochs_; }

  /// Adds the marks that can unblock a claim.
  void add_neighbours(std::vector<Mark<P>*>& marks) const {
    marks.push_back(mark_);
    for (const Neighbour<P>& input : inputs_) marks.push_back(input.mark);
    for (const Neighbour<P>& reader : readers_) marks.push_back(reader.mark);
  }

 private:
  using Word = typename P::template Atomic<std::uint64_t>;

  std::uint64_t first_task() const;
  void refresh_after_repair();
  Attempt<P> at_end(std::uint64_t end);
  void publish(std::uint64_t low);
  std::uint64_t epoch_end() const { return epoch_ == kNever ? kNever : epochs_.end(epoch_); }
  std::uint64_t next_end() const {  // of the lane, or of its turn
    return std::min({end_->load(std::memory_order_seq_cst), own_end_, epoch_end()});
  }

  Mark<P>* mark_;
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
  DomainEpochs<P> epochs_;
  std::uint64_t epoch_ = kNever;  // the last one to be claimed from; kNever: all
  std::uint8_t me_;
  bool in_order_;

  std::uint64_t cursor_ = 0;
  std::uint64_t seen_repairs_ = kNever;  // the first claim looks at low
  std::uint64_t sequence_ = 0;           // of the tally
  RowCounts counts_;
  Waker<P> waker_;
};

template <class P>
Channel<P>::Channel(Control<P>& control, int stage, int lane, int replica) {
  const StageShape& shape = control.shape->stages[static_cast<std::size_t>(stage)];
  const LaneShape& lane_shape = shape.lanes[static_cast<std::size_t>(lane)];
  StageWords<P>& words = control.stages[static_cast<std::size_t>(stage)];
  LaneWords<P>& lane_words = words.lanes[static_cast<std::size_t>(lane)];
  const int global = shape.first_replica + replica;
  DomainWords<P>* domain = control.domains[static_cast<std::size_t>(lane_shape.domain)];

  mark_ = lane_words.mark;
  table_ = lane_words.table;
  tally_ = &lane_words.tallies[replica];
  end_ = &domain->end.value;
  if (shape.source && lane == 0) stop_ = &domain->stop.value;
  ack_ = &control.replicas[global].ack.value;
  repairs_ = &words.repairs->value;
  epochs_ = {control, lane_shape.domain};
  task_size_ = lane_shape.task;
  fan_out_ = shape.fan_out;
  waker_ = {control.bells, control.waiter_words(), control.wake_order};
  in_order_ = lane_shape.in_order;
  if (lane_shape.fixed) stride_ = static_cast<std::uint64_t>(shape.replicas);
  if (lane_shape.fixed) turn_ = static_cast<std::uint64_t>(replica);
  me_ = static_cast<std::uint8_t>(global);

  for (int input : lane_shape.inputs) {
    const auto in = static_cast<std::size_t>(input);
    inputs_.push_back({control.stages[in].lanes[0].mark, control.shape->stages[in].fan_out, 0, 0});
  }
  for (std::size_t s = 0; lane == 0 && s < control.shape->stages.size(); ++s) {  // 0 writes
    const StageShape& reader = control.shape->stages[s];
    for (std::size_t l = 0; l < reader.lanes.size(); ++l)
      for (int input : reader.lanes[l].inputs)
        if (input == stage) readers_.push_back({control.stages[s].lanes[l].mark, 1, shape.rows, 0});
  }
  sequence_ = tally_->entries[tally_->newest()].sequence.load(std::memory_order_relaxed);
  counts_ = tally_->entries[tally_->newest()].counts();  // settled by the repair
}

/// The lowest task that this replica may still find open.
template <class P>
std::uint64_t Channel<P>::first_task() const {
  const std::uint64_t task = low() / task_size_;
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
  if (mark_->low.value.load(std::memory_order_seq_cst) >= end) return {Look::ended};
  return {Look::blocked, 0, mark_, Cause::end, end};
}

template <class P>
Attempt<P> Channel<P>::try_claim() {
  P::point(FaultPoint::claim_start);
  refresh_after_repair();
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
      if (seen.newer) {  // the mark has passed it, perhaps long ago: catch up in one step
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
    // Ends are recorded before any row beyond them is published: beyond an end that was not known
    // above, these inputs say it now.
    if (last > epoch_end()) continue;
    if (!in_order_) {
      P::point(FaultPoint::claim_before_cas);
      if (!table_.word(task).compare_exchange_strong(word, table_.claimed(task, me_),
                                                     std::memory_order_acq_rel)) {
        continue;  // somebody else has it: look again
      }
      cursor_ += stride_;
    }
    P::point(FaultPoint::claim_after_cas);
    return {Look::claimed, task};
  }
}

template <class P>
void Channel<P>::count(std::uint64_t task, const RowCounts& not_full) {
  if (not_full.none()) return;  // the last entry still holds
  counts_ += not_full;
  tally_->write(++sequence_, task, counts_);
}

/// Moves the mark of a lane without task words.
template <class P>
void Channel<P>::publish(std::uint64_t low) {
  // Both pair with Neighbour::has(): they publish the rows. Against a sleeper: doorbell.h.
  if (waker_.order() == WakeOrder::by_sleeper) {
    mark_->low.value.store(low, std::memory_order_release);
  } else {
    mark_->low.value.exchange(low, std::memory_order_seq_cst);
  }
}

template <class P>
void Channel<P>::finish(std::uint64_t task, const RowCounts& not_full) {
  P::point(FaultPoint::finish_start);
  count(task, not_full);
  P::point(FaultPoint::finish_after_tally);
  if (in_order_) {
    const std::uint64_t low = (task + 1) * task_size_;
    publish(low);
    P::point(FaultPoint::finish_after_done);
    ++cursor_;
    return waker_.moved(mark_->waiters, low);
  }
  table_.word(task).exchange(table_.done(task, me_), std::memory_order_seq_cst);
  P::point(FaultPoint::finish_after_done);
  const Advanced moved = advance(*mark_, table_, task_size_);
  if (moved.from != moved.to) waker_.moved(mark_->waiters, moved.to);
}

}  // namespace brigade
