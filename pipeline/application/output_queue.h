#pragma once

// The program's end of an output of the graph: passes the tasks of its one replica to the
// program as batches, several at a time, and finishes each on the thread that releases it.
//
// One thread at a time may call next(). The `hold` places are used in rotation, so that a batch
// waits for the place of the batch `hold` before it: the window counts from the oldest held batch.
// A released batch is put into a queue, and the thread that may finish takes all queued batches;
// afterwards it checks again, so that none is left. Only the end of the run waits for that thread.
//
// The supervisor rings a program in next() about once a second, so that it detects a standstill
// because the program does not read another output: the call fails, and the run is unchanged.
//
// In a forked child calls fail, releases do nothing, and nothing is
// destroyed: it has no threads, and the graph belongs to the parent.
//
// At the end of the data, held batches count as finished: no stage writes any more, so the
// memory does not change while the program holds a batch, even after the end of the run.

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <brigade/output.h>
#include "base/forked.h"
#include "pipeline/application/held_batch.h"
#include "pipeline/application/program_ends.h"
#include "pipeline/application/run_memory.h"
#include "pipeline/application/standstill.h"
#include "pipeline/worker/tasks/held_task.h"
#include "pipeline/worker/tasks/loop_counters.h"
#include "transports/joined_queues.h"

namespace brigade {

/// Fills what a program has returned, so that who still reads it sees: 1 or 0. Without it, builds
/// for debugging do.
inline constexpr const char* kPoisonVariable = "BRIGADE_POISON";
/// Whether the environment, or without a word of it the build, asks for it.
bool is_to_poison();

class OutputQueue : public std::enable_shared_from_this<OutputQueue> {
 public:
  /// `stage`: an application, of the plan's stages.
  OutputQueue(std::shared_ptr<RunMemory> memory, StageNumber stage,
              std::shared_ptr<ProgramEnds> ends);
  ~OutputQueue();

  /// As Output::next(). `last_epoch`: nothing is given beyond it. Without `waits`, as
  /// Output::poll_in_epoch().
  Result<std::optional<Batch>> next(std::uint64_t last_epoch, const Output::Here& at,
                                    bool waits = true);
  /// Whether next() has found that nothing is left. Of its thread.
  bool ended() const { return over_ || mark_.in_child(); }
  /// By task queue: all samples below this number have been given, held or not. Any thread.
  ByQueue<std::uint64_t> handed_out() const;
  /// Whether next() has to wait for a batch to be returned. Likewise.
  bool full() const {
    return places_[next_number_ % places_.size()].held.load(std::memory_order_acquire);
  }
  /// The program reads no more: what is left is finished unread. Once; nobody is in next().
  void let_go();
  /// Ends the run, for a reason in the program's loop.
  void fail(std::string message) { ends_->fail(std::move(message)); }

  const PlanStage& stage() const { return *context_.stage; }
  /// The thread that was in next() last; none: it has not been read. Any thread.
  std::thread::id reader() const { return reader_.load(std::memory_order_relaxed); }

 private:
  class Hold;

  /// One of the batches that may be held at once.
  struct Place : HeldTask {
    bool shown = false;  // it has been handed out: what it shows is a batch
    // Where it was taken, for messages: next() alone.
    Output::Here at;
    std::int64_t taken_ns = 0;
    std::uint64_t number = 0;  // of batches

    explicit Place(const ReplicaContext& context) : HeldTask(context) {}
  };

  Error why_nothing_moves() const;
  Attempt<SystemPolicy> claim(std::uint64_t last_epoch, InterruptibleSleep& sleep);
  Error interrupted() const;
  Result<std::optional<Batch>> take(std::uint64_t last_epoch, const Output::Here& at, bool waits);
  Result<void> wait_for(const Place& place, InterruptibleSleep& sleep);
  void tell_wait();
  std::string holders() const;
  bool fill(Place& place, std::uint64_t task);
  void give_back(Place& place);
  void finish_returned(Place& place);
  void poison(Place& place);
  template <class Work>
  void in_turn(Work&& work);
  void end();
  void end_task();
  void drain();

  const ForkMark mark_;
  const bool poisons_;  // what is returned
  const std::shared_ptr<RunMemory> memory_;
  const std::shared_ptr<ProgramEnds> ends_;
  const ByStage<SlotRing> rings_;
  ReplicaContext context_;
  JoinedQueues<SystemPolicy> queues_;
  std::deque<Place> places_;

  std::vector<std::atomic<std::uint64_t>> handed_out_;  // by task queue

  // Of whoever is in next().
  std::atomic<bool> in_next_{false};
  std::atomic<std::thread::id> reader_{};
  LoopCounters counters_;
  bool begun_ = false;
  bool over_ = false;
  bool closed_ = false;
  std::uint64_t next_number_ = 0;  // of batches
  Standstill standstill_;
  std::optional<Error> stuck_;  // why the last claim has given up
  std::uint64_t in_work_ = 0;   // FULL slots of the batch given last
  bool wait_told_ = false;      // that it waits for a batch to be released

  ReturnedTasks returned_;

  // Who waits for a place.
  std::atomic<std::uint32_t> freed_{0};  // counts
  std::atomic<bool> waiting_{false};

  std::thread drain_;
};

/// Keeps a place, and all memory behind it, until it goes.
class OutputQueue::Hold final : public HeldBatch {
 public:
  Hold(std::shared_ptr<OutputQueue> of, Place& at, const Frame& frame)
      : HeldBatch(frame), queue_(std::move(of)), place_(at) {}
  ~Hold() override;
  bool writable(const std::byte* at) const override;

 private:
  std::shared_ptr<OutputQueue> queue_;
  Place& place_;
};

}  // namespace brigade
