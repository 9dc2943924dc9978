#pragma once

// Whoever moves a mark owes its sleepers a wake. Paying costs a locked instruction, and a system
// call per sleeper, so it is put off until it can help somebody: when the mark crosses a boundary
// at which a neighbour can start a task and a glance shows a sleeper, when the debt is old or the
// last task was slow, and always before its replica sleeps or leaves. Owned by one replica, for one
// mark; process-private.
//
// The glance may come before the mark's store is visible, and so miss a sleeper that lies down at
// this moment. Then the debt stays: the next finish sees it, or pay(). A wake may be late by one
// cheap task; it is never lost. A barrier at every finish instead halves the rate of small tasks.

#include <cstdint>

#include "transports/low_water.h"

namespace brigade {

/// How long the task took; zeros mean "cheap, unknown".
struct Pace {
  std::int64_t now_ns = 0;
  std::int64_t task_ns = 0;
};

template <class P>
class WakeDebt {
 public:
  WakeDebt() = default;
  /// `every`: samples between boundaries. `words`: of the waiter bitmap that are in use.
  WakeDebt(Mark<P>& mark, Bell<P>* bells, int words, std::uint64_t every)
      : mark_(&mark), bells_(bells), words_(words), every_(every) {}

  bool owes() const { return owes_; }

  /// After a finish by which this replica moved the mark (perhaps not at all). `end`: of the lane;
  /// reaching it is a boundary too.
  void add(const Advanced& moved, std::uint64_t end, const Pace& pace) {
    if (moved.from != moved.to) {
      if (!owes_) since_ns_ = pace.now_ns;
      owes_ = true;
      if (moved.to >= end || (crosses(moved) && somebody_waits())) return pay();
    }
    if (!owes_) return;
    if (pace.task_ns > kSlowTaskNs || pace.now_ns - since_ns_ > kWakeDebtNs) pay();
  }

  /// Rings who sleeps on the mark, if anything is owed.
  void pay() {
    if (!owes_) return;
    owes_ = false;
    wake_waiters(mark_->waiters, bells_, words_);
  }

 private:
  bool crosses(const Advanced& moved) const {
    return moved.to - moved.from >= every_ || moved.from / every_ != moved.to / every_;
  }

  bool somebody_waits() const {
    std::uint64_t bits = 0;
    for (int word = 0; word < words_; ++word) {
      bits |= mark_->waiters.bits[word].load(std::memory_order_seq_cst);
    }
    return bits != 0;
  }

  Mark<P>* mark_ = nullptr;
  Bell<P>* bells_ = nullptr;
  int words_ = 0;
  std::uint64_t every_ = 1;
  bool owes_ = false;
  std::int64_t since_ns_ = 0;
};

}  // namespace brigade
