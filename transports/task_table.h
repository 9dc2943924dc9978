#pragma once

// The task table of a task queue: word t mod W names the owner of task t, W being
// the tasks that fit into the ring. A word is {number:48, state:2, owner:8}; one
// with an older number than t reads as OPEN for t. Nothing is ever reset, and
// since numbers only grow a stale compare-and-swap cannot succeed (no ABA).
//
//   OPEN t --CAS by any replica--> CLAIMED t by X --exchange by X--> DONE t --(window passes)-->
//   ... CLAIMED t by X --store by the supervisor, after X has ended--> OPEN t

#include <cstdint>

#include "transports/limits.h"
#include "transports/policy.h"

namespace brigade {

/// One shared 64-bit word on a cache line of its own.
template <class P>
struct alignas(kCacheLineBytes) Line {
  typename P::template Atomic<std::uint64_t> value{0};
};

enum class TaskState : std::uint8_t { open = 0, claimed = 1, done = 2 };

/// The fields of a task word.
struct TaskWord {
  std::uint64_t number = 0;
  TaskState state = TaskState::open;
  std::uint8_t owner = 0;  ///< number of the replica in the graph

  std::uint64_t pack() const {
    return number << (kStateBits + kOwnerBits) | static_cast<std::uint64_t>(state) << kOwnerBits |
           owner;
  }
  static TaskWord unpack(std::uint64_t word) {
    return {word >> (kStateBits + kOwnerBits),
            static_cast<TaskState>(word >> kOwnerBits & ((1u << kStateBits) - 1)),
            static_cast<std::uint8_t>(word & ((1u << kOwnerBits) - 1))};
  }
};

/// Words start as DONE of task t - W; so that this is never negative, the stored number is t + W.
template <class P>
class TaskTable {
 public:
  TaskTable() = default;
  TaskTable(Line<P>* lines, std::uint64_t window) : lines_(lines), window_(window) {}

  std::uint64_t window() const { return window_; }
  typename P::template Atomic<std::uint64_t>& word(std::uint64_t task) const {
    return lines_[slot(task)].value;
  }
  Line<P>* lines() const { return lines_; }

  std::uint64_t open(std::uint64_t task) const { return pack(task, TaskState::open, 0); }
  std::uint64_t claimed(std::uint64_t task, std::uint8_t owner) const {
    return pack(task, TaskState::claimed, owner);
  }
  std::uint64_t done(std::uint64_t task, std::uint8_t owner) const {
    return pack(task, TaskState::done, owner);
  }

  /// What a word says about task t.
  struct Seen {
    bool newer = false;  ///< the word has moved on: t is long done
    TaskState state = TaskState::open;
    std::uint8_t owner = 0;
  };
  Seen read(std::uint64_t word, std::uint64_t task) const {
    const TaskWord fields = TaskWord::unpack(word);
    const std::uint64_t stored = task + window_;
    if (fields.number > stored) return {true, TaskState::done, fields.owner};
    if (fields.number < stored) return {false, TaskState::open, 0};
    return {false, fields.state, fields.owner};
  }

  /// By compare-and-swap from what was read, OPEN for t; false: somebody else has been faster.
  bool claim(std::uint64_t task, std::uint64_t seen, std::uint8_t owner) const {
    P::point(FaultPoint::claim_before_cas);
    return word(task).compare_exchange_strong(seen, claimed(task, owner),
                                              std::memory_order_acq_rel);
  }

  /// Supervisor, before any process runs: every word is DONE for the round before the first.
  void initialise() {
    for (std::uint64_t slot = 0; slot < window_; ++slot) {
      lines_[slot].value.store(TaskWord{slot, TaskState::done, 0}.pack(),
                               std::memory_order_relaxed);  // exec orders it before any worker
    }
  }

 private:
  std::uint64_t pack(std::uint64_t task, TaskState state, std::uint8_t owner) const {
    return TaskWord{task + window_, state, owner}.pack();
  }

  std::uint64_t slot(std::uint64_t task) const {
    return (window_ & (window_ - 1)) == 0 ? task & (window_ - 1) : task % window_;
  }

  Line<P>* lines_ = nullptr;
  std::uint64_t window_ = 1;
};

}  // namespace brigade
