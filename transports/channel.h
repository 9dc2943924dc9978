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

#include "transports/layout.h"

namespace brigade {

enum class Look : std::uint8_t {
  claimed,  ///< the task is yours
  blocked,  ///< nothing to do now; see blocked_on
  ended     ///< the lane is finished
};

/// What a blocked replica waits for; counted apart in the statistics.
enum class Cause : std::uint8_t { input, memory, end, stop, gate };

template <class P>
struct Attempt {
  Look look = Look::blocked;
  std::uint64_t task = 0;
  Mark<P>* blocked_on = nullptr;  ///< null: only a bell can change it (stop)
  Cause cause = Cause::input;
};

/// How long the task took, for deciding when to pay a wake; zeros mean "cheap, unknown".
struct Pace {
  std::int64_t now_ns = 0;
  std::int64_t task_ns = 0;
};

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
  void finish(std::uint64_t task, const RowCounts& not_full = {}, const Pace& pace = {});

  /// Pays an owed wake; always before blocking or exiting.
  void pay();

  /// An end this replica knows before the domain's word is set (a source knows its size).
  void set_own_end(std::uint64_t end) { own_end_ = end; }

 private:
  using Word = typename P::template Atomic<std::uint64_t>;

  struct Neighbour {
    Mark<P>* mark;
    std::uint64_t offset;   // added to the mark: 0 for an input, M for a reader
    std::uint64_t reached;  // cached; a mark only grows, so an old value is merely pessimistic
  };

  bool refresh_after_repair();
  Attempt<P> blocked(Mark<P>* mark, Cause cause) const { return {Look::blocked, 0, mark, cause}; }
  bool reached(Neighbour& neighbour, std::uint64_t last);
  Attempt<P> at_end(std::uint64_t end);
  void next_cursor() { ++cursor_; }
  void count(std::uint64_t task, const RowCounts& not_full);
  void owe(const Advanced& moved, const Pace& pace);

  Control<P>* control_;
  Mark<P>* mark_;
  TaskTable<P> table_;
  Tally<P>* tally_;
  Word* end_;
  Word* stop_ = nullptr;  // sources only
  Word* ack_;
  Word* repairs_;
  Word* phase_;
  std::vector<Neighbour> inputs_;
  std::vector<Neighbour> readers_;
  std::uint64_t task_size_;
  std::uint64_t wake_every_;
  std::uint64_t own_end_ = kNever;
  std::uint8_t me_;
  bool in_order_;

  std::uint64_t cursor_ = 0;
  std::uint64_t seen_repairs_ = 0;
  std::uint64_t sequence_ = 0;  // of the tally
  RowCounts counts_;
  bool owes_ = false;
  std::int64_t owed_since_ns_ = 0;
};

template <class P>
Channel<P>::Channel(Control<P>& control, int stage, int lane, int replica) : control_(&control) {
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
  if (shape.source) stop_ = &domain->stop.value;
  ack_ = &control.replicas[global].ack.value;
  repairs_ = &words.repairs->value;
  phase_ = &control.phase->value;
  task_size_ = lane_shape.task;
  wake_every_ = lane_shape.wake_every;
  in_order_ = lane_shape.in_order;
  me_ = static_cast<std::uint8_t>(global);

  for (int input : lane_shape.inputs) {
    inputs_.push_back({control.stages[static_cast<std::size_t>(input)].lanes[0].mark, 0, 0});
  }
  for (std::size_t s = 0; s < control.shape->stages.size(); ++s) {
    const StageShape& reader = control.shape->stages[s];
    for (std::size_t l = 0; l < reader.lanes.size(); ++l) {
      for (int input : reader.lanes[l].inputs) {
        if (input == stage) readers_.push_back({control.stages[s].lanes[l].mark, shape.rows, 0});
      }
    }
  }
  seen_repairs_ = repairs_->load(std::memory_order_acquire);
  cursor_ = low() / task_size_;
  sequence_ = tally_->entries[tally_->newest()].sequence.load(std::memory_order_relaxed);
  counts_ = tally_->entries[tally_->newest()].counts();  // settled by the repair
}

template <class P>
bool Channel<P>::refresh_after_repair() {
  const std::uint64_t repairs = repairs_->load(std::memory_order_acquire);  // pairs with repair()
  if (repairs == seen_repairs_) return true;
  seen_repairs_ = repairs;
  cursor_ = low() / task_size_;
  return phase_->load(std::memory_order_acquire) != static_cast<std::uint64_t>(Phase::aborting);
}

template <class P>
bool Channel<P>::reached(Neighbour& neighbour, std::uint64_t last) {
  if (neighbour.reached >= last) return true;
  // Pairs with the CAS (or store) of the neighbour's mark: its rows are visible, its reads are
  // over.
  neighbour.reached = neighbour.mark->low.value.load(std::memory_order_seq_cst) + neighbour.offset;
  return neighbour.reached >= last;
}

template <class P>
Attempt<P> Channel<P>::at_end(std::uint64_t end) {
  // seq_cst: part of the sleeper's "look again" (doorbell.h).
  if (mark_->low.value.load(std::memory_order_seq_cst) >= end) return {Look::ended};
  return blocked(mark_, Cause::end);
}

template <class P>
Attempt<P> Channel<P>::try_claim() {
  P::point(FaultPoint::claim_start);
  if (!refresh_after_repair()) return {Look::ended};
  if (stop_ != nullptr &&
      stop_->load(std::memory_order_seq_cst) == static_cast<std::uint64_t>(Stop::asked)) {
    ack_->store(1, std::memory_order_seq_cst);
    return blocked(nullptr, Cause::stop);
  }
  for (;;) {
    const std::uint64_t task = cursor_;
    const std::uint64_t last = (task + 1) * task_size_;
    const std::uint64_t end = std::min(end_->load(std::memory_order_seq_cst), own_end_);
    if (last > end) return at_end(end);
    for (Neighbour& reader : readers_) {
      if (!reached(reader, last)) return blocked(reader.mark, Cause::memory);
    }
    std::uint64_t word = 0;
    if (!in_order_) {
      word = table_.word(task).load(std::memory_order_acquire);
      const auto seen = table_.read(word, task);
      if (seen.newer || seen.state != TaskState::open) {
        next_cursor();
        continue;
      }
    }
    for (Neighbour& input : inputs_) {
      if (!reached(input, last)) return blocked(input.mark, Cause::input);
    }
    if (!in_order_) {
      P::point(FaultPoint::claim_before_cas);
      if (!table_.word(task).compare_exchange_strong(word, table_.claimed(task, me_),
                                                     std::memory_order_acq_rel)) {
        continue;  // somebody else has it: look again
      }
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

template <class P>
void Channel<P>::finish(std::uint64_t task, const RowCounts& not_full, const Pace& pace) {
  P::point(FaultPoint::finish_start);
  count(task, not_full);
  P::point(FaultPoint::finish_after_tally);
  if (in_order_) {
    const std::uint64_t low = task * task_size_;
    // seq_cst: "I move low, then look at the waiters" (doorbell.h); it also publishes the rows.
    mark_->low.value.store(low + task_size_, std::memory_order_seq_cst);
    P::point(FaultPoint::finish_after_done);
    next_cursor();
    owe({low, low + task_size_}, pace);
    return;
  }
  table_.word(task).exchange(table_.done(task, me_), std::memory_order_seq_cst);
  P::point(FaultPoint::finish_after_done);
  owe(advance(*mark_, table_, task_size_), pace);
}

template <class P>
void Channel<P>::owe(const Advanced& moved, const Pace& pace) {
  if (moved.from != moved.to) {
    const bool crossed = wake_every_ <= task_size_ ||
                         moved.from / wake_every_ != moved.to / wake_every_ ||
                         moved.to >= end_->load(std::memory_order_relaxed);
    if (!owes_) owed_since_ns_ = pace.now_ns;
    owes_ = true;
    if (crossed) return pay();
  }
  if (!owes_) return;
  if (pace.task_ns > kSlowTaskNs || pace.now_ns - owed_since_ns_ > kWakeDebtNs) pay();
}

template <class P>
void Channel<P>::pay() {
  if (!owes_) return;
  owes_ = false;
  wake_waiters(mark_->waiters, control_->bells, control_->waiter_words());
}

}  // namespace brigade
