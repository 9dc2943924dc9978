#pragma once

// The program's end of an input of the graph: the one replica of a stream, with
// the program's threads in place of a worker's loop. It processes one task after
// the other; the slots of the current task are acquired one by one and submitted
// in any order, and the thread that submits the last one finishes the task.
//
// Three kinds of threads use it: one that acquires, one that submits or drops a slot, and
// the supervisor's thread, which pads a begun batch after `max_wait` without samples,
// acknowledges a stop and pads up to the end. Each holds one mutex briefly; for the protocol
// this is one replica that does one step after the other. No thread sleeps with the mutex: a
// thread that waits for a free slot sleeps on the replica's doorbell, as its only sleeper.
//
// In a forked child calls fail and releases do nothing: it has
// neither the memory nor a mutex that another thread will unlock.

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <brigade/input.h>
#include "base/forked.h"
#include "pipeline/application/guarded_slot.h"
#include "pipeline/application/output_queue.h"
#include "pipeline/application/program_ends.h"
#include "pipeline/application/run_memory.h"
#include "pipeline/application/standstill.h"
#include "pipeline/records/record_codec.h"
#include "pipeline/worker/tasks/epoch_notifier.h"
#include "pipeline/worker/tasks/loop_counters.h"
#include "pipeline/worker/tasks/stream_position.h"
#include "transports/joined_queues.h"
#include "transports/stream_ends.h"

namespace brigade {

class InputQueue : public std::enable_shared_from_this<InputQueue> {
 public:
  /// `stage`: an input, of the plan's stages. `outputs`: those of the same program.
  InputQueue(std::shared_ptr<RunMemory> memory, StageNumber stage,
             std::shared_ptr<ProgramEnds> ends,
             std::vector<std::shared_ptr<const OutputQueue>> outputs);

  static constexpr std::int64_t kForEver = INT64_MAX;
  /// As Input::acquire(). `until_ns`: on the clock of monotonic_ns(); 0: no wait.
  Result<std::optional<Slot>> acquire(std::int64_t until_ns, const Input::Here& at);
  /// These three: as Input has them.
  Result<void> check() const;
  bool ended() const;
  bool full() const;
  Result<void> end_epoch();
  Result<void> close();
  /// The last handle on it has gone: closes it, unless it is.
  void let_go();

  /// Of the supervisor's thread, whenever it wakes up: does what time brings.
  void tend();

  const PlanStage& stage() const { return *context_.stage; }

 private:
  friend class Slot;

  /// A slot that is held.
  struct Place {
    RecordWriter writer;
    std::optional<GuardedSlot> guard;  // with BRIGADE_POISON
    std::uint64_t slot = 0;            // of the task
    SampleInfo sample;
    bool held = false;
    // Where it was taken, for messages.
    Input::Here at;
    std::int64_t taken_ns = 0;

    Place(const ReplicaContext& context, bool guarded)
        : writer(*context.plan, *context.stage, *context.rings, context.stage_index) {
      if (guarded) guard.emplace();
    }
  };

  // With the mutex.
  Attempt<SystemPolicy> go_on();
  bool enter(std::uint64_t first);
  void pad();
  void finish_task();
  Place& hand_out(const Input::Here& at);
  void end_one_epoch();
  void end_the_rest();
  void wake_in_time();
  std::uint64_t next_number() const { return queues_.at(0).level() + handed_; }
  std::uint64_t epochs() const { return index_space_epochs(*context_.plan, index_space_); }
  std::optional<Error> why_it_never_comes(const Attempt<SystemPolicy>& found);
  std::optional<Error> held_too_long();
  void tell_wait();
  /// The slots that are held, where they were taken, and what to do.
  std::string holders() const;
  bool only_this_thread_reads() const;

  Result<std::optional<Slot>> take(std::int64_t until_ns, const Input::Here& at);
  Result<void> commit(Place& place) const;
  Result<void> copy_guarded(Place& place) const;
  Result<void> settle(Place& place, SlotState state);
  Error closed_before() const;
  Result<void> check_process() const;

  const bool guards_ = is_to_poison();
  const std::shared_ptr<RunMemory> memory_;
  const std::shared_ptr<ProgramEnds> ends_;
  const std::vector<std::shared_ptr<const OutputQueue>> outputs_;
  const ByStage<SlotRing> rings_;
  const ReplicaContext context_;
  const ForkMark mark_;
  const IndexSpaceNumber index_space_;
  const std::uint64_t task_;
  const std::uint64_t multiple_;
  std::atomic<bool> in_acquire_{false};

  mutable std::mutex mutex_;  // of all that follows
  JoinedQueues<SystemPolicy> queues_;
  EpochNotifier epoch_ends_;
  StreamPosition position_;
  StreamEnds<SystemPolicy> stream_ends_;
  RecordWriter pads_;
  LoopCounters counters_;
  std::deque<Place> places_;  // those that there have been at once
  bool over_ = false;         // all has been finished
  bool closed_ = false;       // by the program
  // The task it is at, which has begun with its first slot handed out: before, it holds nothing.
  std::uint64_t first_ = 0;
  std::uint64_t handed_ = 0;  // slots handed out, or padding
  std::uint64_t held_ = 0;    // of them, by the program
  std::uint64_t full_ = 0;
  SlotCounts not_full_;
  std::int64_t settled_ns_ = 0;  // the last time that a slot came back
  // Of whoever is in acquire().
  Standstill standstill_;
  std::int64_t acquire_until_ns_ = kForEver;
  std::int64_t waits_since_ns_ = 0;       // start of the wait for held slots; 0: no wait
  std::int64_t held_look_ns_ = kForEver;  // next time to check that wait
  bool wait_told_ = false;
};

/// Gives a slot back: submitted, or as a dropped sample.
struct Slot::Held {
  std::shared_ptr<InputQueue> queue;
  InputQueue::Place* place;
};

}  // namespace brigade
