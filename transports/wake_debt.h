#pragma once

// Whoever moves a mark owes its sleepers a wake. Paying costs a look at the bitmap, and a system
// call per sleeper, so it is put off until it can help somebody: when the mark crosses a boundary
// at which a neighbour can start a task, when the debt is old or the last task was slow, and always
// before its replica blocks or exits. Owned by one replica, for one mark; process-private.

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
      if (crosses(moved) || moved.to >= end) return pay();
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

  Mark<P>* mark_ = nullptr;
  Bell<P>* bells_ = nullptr;
  int words_ = 0;
  std::uint64_t every_ = 1;
  bool owes_ = false;
  std::int64_t since_ns_ = 0;
};

}  // namespace brigade
