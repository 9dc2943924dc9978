#pragma once

// A watermark that a task queue depends on, as one replica has seen it: of an input, that its slots
// are there; of a reader, that it has done with the slots of a round before. Process-private.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "transports/attempt.h"
#include "transports/doorbell.h"
#include "transports/layout.h"

namespace brigade {

template <class P>
struct Neighbour {
  Watermark<P>* watermark = nullptr;
  std::uint64_t scale =
      1;  ///< of the watermark: an input's fan-out; readers' watermarks count slots already
  std::uint64_t offset = 0;  ///< added to it: 0 for an input, M for a reader
  std::uint64_t reached =
      0;  ///< cached; a watermark only grows, so an old value is merely pessimistic

  /// Whether it has come to slot `last`.
  bool has(std::uint64_t last) {
    if (reached >= last) return true;
    // Pairs with the CAS (or store) of the neighbour's watermark: its slots are visible, its reads
    // over.
    reached = watermark->level.value.load(std::memory_order_seq_cst) * scale + offset;
    return reached >= last;
  }

  /// It has not: what to wait for.
  Attempt<P> blocks(std::uint64_t last, Cause cause) const {
    return {Look::blocked, 0, watermark, cause, (last - offset + scale - 1) / scale};
  }
};

/// What a task queue reads.
template <class P>
std::vector<Neighbour<P>> inputs_of(const Control<P>& control, const QueueShape& queue) {
  std::vector<Neighbour<P>> inputs;
  for (const StageNumber input : queue.inputs)
    inputs.push_back(
        {control.stages[input].queues[0].watermark, control.shape->stages[input].fan_out, 0, 0});
  return inputs;
}

/// Who reads a stage's ring.
template <class P>
std::vector<Neighbour<P>> readers_of(const Control<P>& control, StageNumber stage) {
  std::vector<Neighbour<P>> readers;
  const ByStage<StageShape>& stages = control.shape->stages;
  for (const StageNumber s : stages.numbers())
    for (const QueueNumber l : stages[s].queues.numbers())
      for (const StageNumber input : stages[s].queues[l].inputs)
        if (input == stage)
          readers.push_back({control.stages[s].queues[l].watermark, 1, stages[stage].slots, 0});
  return readers;
}

/// Of the replicas that share their stage's tasks, those that sleep. All of them wait for the same
/// task, the lowest open one, and a watermark that moves rings one of them. So whoever has waited
/// and now has a task, or is at the end, hands on what it may have been rung for: it sees to it
/// that while others sleep, one of them sleeps where the next task is held up, or is rung. One that
/// is rung and held up again sets its bit there, looks again (transports/wait.h), and owes nothing.
/// Process-private.
template <class P>
class FellowSleepers {
 public:
  FellowSleepers() = default;  ///< of a replica that shares no tasks: it never owes anything
  /// They may sleep on their own watermark and on those of its neighbours.
  FellowSleepers(const Waker<P>& waker, const StageShape& stage, int me, Watermark<P>& own,
                 const std::vector<Neighbour<P>>& inputs, const std::vector<Neighbour<P>>& readers)
      : waker_(waker), stage_(&stage), me_(me), watermarks_{&own} {
    for (const Neighbour<P>& input : inputs) watermarks_.push_back(input.watermark);
    for (const Neighbour<P>& reader : readers) watermarks_.push_back(reader.watermark);
  }

  /// Notes that this replica waits, and so may be rung.
  const Attempt<P>& held_up(const Attempt<P>& blocked) {
    wait_for_me_ = stage_ != nullptr;
    return blocked;
  }
  /// Since it was held up it has handed nothing on.
  bool wait_for_me() const { return __builtin_expect(wait_for_me_, 0) != 0; }

  /// At the end nobody has a task to look at: the next one is rung.
  Attempt<P> ended() {
    if (wait_for_me_) hand_on([] { return Attempt<P>{Look::ended}; });
    return {Look::ended};
  }
  /// `next()` looks at the task after the one that this replica now has.
  template <class Next>
  [[gnu::noinline]] void hand_on(const Next& next) {
    if (!P::hands_on()) return;
    // Its own bits go first, and only then it looks: a ring for a bit is the promise that its owner
    // looks at the next task afterwards.
    for (Watermark<P>* watermark : watermarks_)
      if (is_waiter(watermark->waiters, me_)) clear_waiter(watermark->waiters, me_);
    const auto sleep_on = [this](const Watermark<P>* watermark) {
      return waker_.any_sleeps(watermark->waiters, *stage_);
    };
    const bool sleep = std::any_of(watermarks_.begin(), watermarks_.end(), sleep_on);
    const Attempt<P> found = sleep ? next() : Attempt<P>{Look::ended};
    wait_for_me_ = false;
    if (!sleep || (found.look == Look::blocked && sleep_on(found.blocked_on))) return;
    for (Watermark<P>* watermark : watermarks_)
      if (waker_.ring_one(watermark->waiters, *stage_)) return;
  }

 private:
  Waker<P> waker_;
  const StageShape* stage_ = nullptr;
  int me_ = 0;
  bool wait_for_me_ = false;
  std::vector<Watermark<P>*> watermarks_;
};

}  // namespace brigade
