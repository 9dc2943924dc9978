#pragma once

// Where the epochs of a stream end. Only its source knows, and only when it gets there:
//
//   one replica       end() records that an epoch ends at the next multiple of L, before the slots
//                     beyond it; what is left of the epoch up to there is padding
//   several replicas  each acknowledges when it has nothing more to claim a task for; the last one
//                     to do so finds the end from what has been claimed
//
// One replica's; one thread.

#include <cstdint>

#include "transports/stop.h"

namespace brigade {

namespace detail {

template <class P>
Stop stop_of(const Control<P>& control, IndexSpaceNumber index_space) {
  return static_cast<Stop>(
      control.index_spaces[index_space]->stop.value.load(std::memory_order_seq_cst));
}

}  // namespace detail

/// Of a stream with one replica, which works in order: a claimed task that is not finished holds
/// nothing, and is claimed again. Call order:
///
///   (enter (is_padding | is_open | close | end)*)*
template <class P>
class StreamEnds {
 public:
  /// `multiple`: L of its index space. `after_padding`: the slot before the watermark is padding,
  /// of a predecessor.
  StreamEnds(Control<P>& control, StageNumber stage, std::uint64_t multiple, bool after_padding)
      : control_(&control),
        index_space_(control.shape->stages[stage].queues[0].index_space),
        ends_(&control.epoch_ends[index_space_]),
        multiple_(multiple),
        after_padding_(after_padding) {}

  /// Of the task entered last.
  std::uint64_t epoch() const { return epoch_; }
  Stop stop() const { return detail::stop_of(*control_, index_space_); }

  /// Finds the epoch of a claimed task from number `first` on. False: there is none, the index
  /// space has ended.
  bool enter(std::uint64_t first) {
    while (ends_->at(epoch_) <= first) ++epoch_;
    if (epoch_ == ends_->capacity()) {  // a predecessor may have died before it could say so
      end_epoch(*control_, index_space_, epoch_ - 1, ends_->at(epoch_ - 1));
      return false;
    }
    go_on_padding(first);
    if (stop() == Stop::end_is_set) pad_up_to_ = kNever;
    return true;
  }

  bool is_padding(std::uint64_t number) const { return number < pad_up_to_; }
  /// Whether readers wait for the rest of a batch, which close() may end. Once a predecessor has
  /// recorded the end, the numbers up to it are for the samples of its unfinished task; only a stop
  /// gives these up.
  bool is_open(std::uint64_t number) const {
    return number % multiple_ != 0 && (stop() != Stop::none || ends_->at(epoch_) == kNever);
  }
  /// From `number` up to the next multiple of L there is padding, so that readers get what is
  /// there.
  void close(std::uint64_t number) { pad_up_to_ = closed(number); }
  /// Nothing more comes in this epoch, of which `number` would be the next.
  void end(std::uint64_t number) {
    close(number);
    const std::uint64_t recorded = ends_->at(epoch_);  // by a predecessor
    if (recorded != kNever) pad_up_to_ = recorded;
    end_epoch(*control_, index_space_, epoch_, pad_up_to_);
  }

 private:
  /// All padding reaches a multiple of L, so a predecessor that died before it pads the rest. At a
  /// multiple of L the stage is asked again, even if the end is recorded: the unfinished task in
  /// which it was found may have held samples.
  void go_on_padding(std::uint64_t first) {
    if (after_padding_) pad_up_to_ = closed(first);
    after_padding_ = false;
  }
  std::uint64_t closed(std::uint64_t number) const {
    return (number + multiple_ - 1) / multiple_ * multiple_;
  }

  Control<P>* control_;
  IndexSpaceNumber index_space_;
  const NumberList<P>* ends_;
  std::uint64_t multiple_;
  std::uint64_t epoch_ = 0;
  bool after_padding_;
  std::uint64_t pad_up_to_ = 0;  // numbers below it are padding
};

/// Of one of several replicas of a stream, which has one epoch. While a replica has samples it
/// holds one of them in private memory before it claims a task.
template <class P>
class SharedStreamEnds {
 public:
  SharedStreamEnds(Control<P>& control, StageNumber stage, int replica, std::uint64_t multiple)
      : control_(&control), stage_(stage), multiple_(multiple) {
    const StageShape& shape = control.shape->stages[stage];
    index_space_ = shape.queues[0].index_space;
    replica_ = shape.first_replica + replica;
    ack_ = &control.replicas[replica_].ack.value;
    over_ = ack_->load(std::memory_order_seq_cst) != 0;
  }

  Stop stop() const { return detail::stop_of(*control_, index_space_); }
  /// This replica has nothing more to give: end() was called, or its predecessor had acknowledged.
  bool is_over() const { return over_; }
  void end() { over_ = true; }
  /// After end(), in place of a claim. True: all replicas are over; the end is set, and what is
  /// left up to it is padding that all claim together.
  bool acknowledge() {
    ack_->store(1, std::memory_order_seq_cst);
    return end_if_all_acknowledged(*control_, stage_, multiple_);
  }
  /// Sleeps until something has happened, after acknowledge() has said that others go on.
  void wait_for_others() {
    auto& doorbell = control_->doorbells[replica_].rings;
    const std::uint32_t rings = doorbell.load(std::memory_order_seq_cst);
    if (stop() == Stop::none) P::sleep(doorbell, rings);
  }

 private:
  Control<P>* control_;
  StageNumber stage_;
  IndexSpaceNumber index_space_;
  int replica_;  // of the graph
  std::uint64_t multiple_;
  typename P::template Atomic<std::uint64_t>* ack_;
  bool over_ = false;
};

}  // namespace brigade
