#pragma once

// The record by which a flat_map stage finds its position after a death: which input was
// in progress, where its outputs began, and how far each input has been consumed. Two
// entries are written alternately, and one store of a sequence number commits an entry, so
// that a process killed anywhere leaves the previous entry intact. Written by the stage's
// only replica, read by its successor and by the supervisor once that replica has ended.
//
//   (begin (outputs) consume)*       in between, each output moves the watermark of the output task
//   queue
//
// A successor processes the input in progress again and skips its existing outputs.

#include <cstdint>

#include "transports/limits.h"
#include "transports/task_table.h"

namespace brigade {

template <class P>
class Journal {
 public:
  using Word = typename P::template Atomic<std::uint64_t>;

  Journal() = default;
  Journal(Line<P>* sequence, Word* even, Word* odd, int ports)
      : sequence_(sequence), entries_{even, odd}, ports_(ports) {}

  /// Words of one entry: where the outputs began, the port in work (plus one), a watermark per
  /// port.
  static constexpr int entry_words(int ports) { return 2 + ports; }

  int ports() const { return ports_; }

  /// The port whose input was begun and not consumed; -1: none.
  int in_work() const { return static_cast<int>(newest()[1].load(kRelaxed)) - 1; }
  /// The number of the first output of that input.
  std::uint64_t outputs_from() const { return newest()[0].load(kRelaxed); }
  /// Everything below it was consumed from this port; the watermark itself may lag behind by one.
  std::uint64_t consumed(int port) const { return newest()[2 + port].load(kRelaxed); }

  /// Before an input of `port` is worked on: its outputs begin at `output`.
  void begin(int port, std::uint64_t output) { commit(port + 1, output, -1, 0); }
  /// After its last output: the inputs of `port` below `level` are consumed, nothing is in work.
  void consume(int port, std::uint64_t level) { commit(0, 0, port, level); }

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;

  Word* newest() const {
    // Pairs with commit(): what stands in the entry is visible.
    return entries_[sequence_->value.load(std::memory_order_acquire) % 2];
  }

  void commit(int in_work, std::uint64_t output, int port, std::uint64_t level) {
    const std::uint64_t sequence = sequence_->value.load(kRelaxed);
    const Word* const from = entries_[sequence % 2];
    Word* const to = entries_[(sequence + 1) % 2];
    to[0].store(output, kRelaxed);
    to[1].store(static_cast<std::uint64_t>(in_work), kRelaxed);
    for (int p = 0; p < ports_; ++p)
      to[2 + p].store(p == port ? level : from[2 + p].load(kRelaxed), kRelaxed);
    P::point(FaultPoint::journal_before_commit);
    sequence_->value.store(sequence + 1, std::memory_order_release);
    P::point(FaultPoint::journal_after_commit);
  }

  Line<P>* sequence_ = nullptr;
  Word* entries_[2] = {};
  int ports_ = 0;
};

}  // namespace brigade
