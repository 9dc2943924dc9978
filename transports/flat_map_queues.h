#pragma once

// The task queues of a flat_map stage: one watermark for its output and one per
// input, and the journal that ties them. One replica; every task is one sample, in
// order. Nothing is lost and nothing is repeated, wherever it is killed, if an input
// has the same outputs when it is processed again. Call order, from one thread:
//
//   (try_input (begin (try_output publish)*)? consume)*
//
// with claim_or_wait() (transports/wait.h) around the two attempts to sleep.
// Between two inputs it may also publish padding, which its successor must
// be able to derive from the shared words: the journal does not record it.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "transports/channel.h"

namespace brigade {

/// Task queue 0 is the output.
constexpr QueueNumber input_queue(int port) { return QueueNumber(1 + port); }

template <class P>
class FlatMapQueues {
 public:
  /// After the repair of a predecessor: its journal has been settled.
  FlatMapQueues(Control<P>& control, StageNumber stage)
      : journal_(&control.stages[stage].journal),
        output_(control, stage, 0, 0),
        in_work_(journal_->in_work()),
        in_work_from_(journal_->outputs_from()) {
    for (int port = 0; port < journal_->ports(); ++port) {
      const QueueNumber queue = input_queue(port);
      inputs_.emplace_back(control, stage, queue, 0);
      for (const StageNumber input : control.shape->stages[stage].queues[queue].inputs)
        watched_.push_back(control.stages[input].queues[0].watermark);
    }
  }

  int ports() const { return static_cast<int>(inputs_.size()); }
  Channel<P>& input(int port) { return inputs_[port]; }
  Channel<P>& output() { return output_; }

  /// From now on inputs are of this epoch, of which each has an end of its own.
  void set_epoch(std::uint64_t epoch) {
    for (Channel<P>& input : inputs_) input.set_epoch(epoch);
  }

  /// The next sample of whichever input is there, the inputs in turn; one that was in work at a
  /// death comes first. `ended`: all inputs have reached their end, or that of the epoch.
  Attempt<P> try_input() {
    if (in_work_ >= 0) {
      port_ = in_work_;
      return input(port_).try_claim();
    }
    Attempt<P> best{Look::ended};
    for (int turn = 1; turn <= ports(); ++turn) {
      const int port = (port_ + turn) % ports();
      const Attempt<P> found = input(port).try_claim();
      if (found.look == Look::claimed) {
        port_ = port;
        return found;
      }
      if (found.look == Look::blocked) best = found;
    }
    return best;
  }
  int port() const { return port_; }  ///< of the input claimed last

  /// Before an input that has outputs. Where they begin: below the output's watermark by as many as
  /// a predecessor has published.
  std::uint64_t begin() {
    if (in_work_ == port_) return in_work_from_;
    journal_->begin(port_, output_.level());
    return output_.level();
  }

  /// Room for one more output; its number is the task.
  Attempt<P> try_output() { return output_.try_claim(); }
  void publish(std::uint64_t number, const SlotCounts& not_full) {
    output_.finish(number, not_full);
  }

  /// The input claimed last is done, all its outputs are published.
  void consume(std::uint64_t number, const SlotCounts& not_full) {
    Channel<P>& from = input(port_);
    from.count(number, not_full);  // first: it counts once the watermark has passed the input
    journal_->consume(port_, number + 1);
    in_work_ = -1;
    from.finish(number);
  }

  /// The watermarks that can unblock try_input() besides the one that it names.
  const std::vector<Watermark<P>*>& watched() const { return watched_; }

 private:
  Journal<P>* journal_;
  Channel<P> output_;
  Numbered<int, Channel<P>> inputs_;  // by port
  std::vector<Watermark<P>*> watched_;
  int port_ = 0;
  int in_work_;  // begun by a predecessor; -1: nothing is
  std::uint64_t in_work_from_;
};

/// Supervisor, after the stage's replica has ended, before its tallies are settled: an input that
/// the journal says is consumed is behind its task queue's watermark.
template <class P>
void settle_journal(StageWords<P>& words) {
  for (int port = 0; port < words.journal.ports(); ++port) {
    auto& level = words.queues[input_queue(port)].watermark->level.value;
    const std::uint64_t consumed = words.journal.consumed(port);
    // Release pairs with Neighbour::has(): the dead replica's reads are over.
    if (consumed > level.load(std::memory_order_acquire))
      level.store(consumed, std::memory_order_release);
  }
}

}  // namespace brigade
