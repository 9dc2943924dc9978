#pragma once

// The lanes of a stage that numbers its outputs freely: one mark for its output and one per input,
// and the journal that ties them. One replica; every task is one sample, in order. Nothing is lost
// and nothing is repeated, wherever it is killed, as long as an input gives the same outputs when
// it is run again. Call order, from one thread:
//
//   (try_input (begin (try_output publish)*)? consume)*
//
// with claim_or_wait() (transports/wait.h) around the two attempts to sleep. Between two inputs it
// may also publish rows on its own account (padding), which its successor must be able to tell from
// the shared words: the journal knows nothing of them.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "transports/channel.h"

namespace brigade {

template <class P>
class FreeLanes {
 public:
  /// After the repair of a predecessor: its journal has been settled.
  FreeLanes(Control<P>& control, int stage)
      : journal_(&control.stages[static_cast<std::size_t>(stage)].journal),
        output_(control, stage, 0, 0),
        in_work_(journal_->in_work()),
        in_work_from_(journal_->outputs_from()) {
    for (int port = 0; port < journal_->ports(); ++port) {
      inputs_.emplace_back(control, stage, 1 + port, 0);
      const LaneShape& lane = control.shape->stages[static_cast<std::size_t>(stage)]
                                  .lanes[static_cast<std::size_t>(1 + port)];
      for (int input : lane.inputs)
        watched_.push_back(control.stages[static_cast<std::size_t>(input)].lanes[0].mark);
    }
  }

  int ports() const { return static_cast<int>(inputs_.size()); }
  Channel<P>& input(int port) { return inputs_[static_cast<std::size_t>(port)]; }
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

  /// Before an input that has outputs. Where they begin: below the output's mark by as many as a
  /// predecessor has published.
  std::uint64_t begin() {
    if (in_work_ == port_) return in_work_from_;
    journal_->begin(port_, output_.low());
    return output_.low();
  }

  /// Room for one more output; its number is the task.
  Attempt<P> try_output() { return output_.try_claim(); }
  void publish(std::uint64_t number, const RowCounts& not_full) {
    output_.finish(number, not_full);
  }

  /// The input claimed last is done, all its outputs are published.
  void consume(std::uint64_t number, const RowCounts& not_full) {
    Channel<P>& from = input(port_);
    from.count(number, not_full);  // first: it counts once the mark has passed the input
    journal_->consume(port_, number + 1);
    in_work_ = -1;
    from.finish(number);
  }

  /// The marks that can unblock try_input() besides the one that it names.
  const std::vector<Mark<P>*>& watched() const { return watched_; }

 private:
  Journal<P>* journal_;
  Channel<P> output_;
  std::vector<Channel<P>> inputs_;
  std::vector<Mark<P>*> watched_;
  int port_ = 0;
  int in_work_;  // begun by a predecessor; -1: nothing is
  std::uint64_t in_work_from_;
};

/// Supervisor, after the stage's replica is reaped, before its tallies are settled: an input that
/// the journal says is consumed is behind its lane's mark.
template <class P>
void settle_journal(StageWords<P>& words) {
  for (int port = 0; port < words.journal.ports(); ++port) {
    auto& low = words.lanes[static_cast<std::size_t>(1 + port)].mark->low.value;
    const std::uint64_t consumed = words.journal.consumed(port);
    // Release pairs with Neighbour::has(): the dead replica's reads are over.
    if (consumed > low.load(std::memory_order_acquire))
      low.store(consumed, std::memory_order_release);
  }
}

}  // namespace brigade
