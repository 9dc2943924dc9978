#pragma once

// Feeds samples from a program to a graph. A stage `producer: application` is an input of the
// graph: the program that starts the run is its one replica, and writes its `tensors:` in place.
//
//   brigade::Input tasks = run->input("tasks");
//   while (auto slot = tasks.acquire().value()) {   // nothing: the run has ended
//     fill((*slot)["x"].as<float>());
//     if (auto given = slot->submit(); !given) break;
//   }
//   tasks.close();                                  // no more samples
//
// A slot is memory of the graph for one sample. Samples are numbered in the order in which their
// slots were acquired and pass downstream in that order: a batch waits for its slowest slot. A slot
// that is released without submit() drops its sample. If nothing is submitted for `max_wait` (of
// the source that reads it), the rest of a started batch is padding, so that its readers get the
// samples so far.
//
// Legal order: (acquire | try_acquire | acquire_for | end_epoch)*
// close; releasing the last handle also closes the input.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <brigade/export.h>
#include <brigade/record.h>
#include <brigade/result.h>

namespace brigade {

class InputQueue;

/// Memory for one sample; one thread at a time writes it. The memory is valid while the slot
/// exists, even if the run has ended.
class BRIGADE_API Slot {
 public:
  Slot(Slot&& other) noexcept;
  Slot& operator=(Slot&& other) noexcept;
  ~Slot();

  /// The tensor `name` as `tensors:` declares it, without a batch dimension; aborts if it does not
  /// exist. It still has old contents; write all of it.
  TensorSlot operator[](std::string_view name);
  /// The whole record, as a stage that produces such samples sees it.
  Outputs record();
  /// True if it has no sample to write, because it was submitted or moved from.
  bool empty() const { return held_ == nullptr; }
  /// The identity of the sample downstream: its number, its epoch and its index there.
  const SampleInfo& sample() const;

  /// Passes the sample to the graph; afterwards the slot is empty. An error leaves the slot
  /// unchanged: a ragged tensor has a shape that `tensors:` does not allow, the slot was already
  /// submitted, the program has written outside a tensor (with BRIGADE_POISON), or the run was
  /// ended at once (Run::wait() says why).
  Result<void> submit();

 private:
  friend class InputQueue;
  struct Held;
  explicit Slot(std::unique_ptr<Held> held);

  std::unique_ptr<Held> held_;  // null: submitted, or moved from
};

/// An input of a run; copies share it, and releasing the last one closes it. Only one thread at a
/// time acquires; any thread may use the slots.
class BRIGADE_API Input {
 public:
  /// The caller's place, for messages.
  struct Here {
    const char* file = "";
    int line = 0;
  };

  /// The next slot; waits for room in the graph. Nothing if the run accepts no more samples,
  /// because it was stopped or failed (Run::wait() says which). An error leaves the run unchanged:
  /// the program held all slots of a task (`chunk:` is their number) for `hold_timeout:`, the graph
  /// is full of results that this program has not read, the input was closed, or another thread is
  /// acquiring.
  Result<std::optional<Slot>> acquire(Here here = {__builtin_FILE(), __builtin_LINE()});
  /// Nothing also if there is no room now.
  Result<std::optional<Slot>> try_acquire(Here here = {__builtin_FILE(), __builtin_LINE()});
  /// Nothing also if there is no room within `timeout`.
  Result<std::optional<Slot>> acquire_for(std::chrono::nanoseconds timeout,
                                          Here here = {__builtin_FILE(), __builtin_LINE()});

  /// An error if the input does not exist or was closed. Any thread.
  Result<void> check() const;
  /// True if the run accepts no more samples. Any thread.
  bool ended() const;
  /// True if all slots of a task were acquired and some are still held, so that acquire() waits for
  /// them. Any thread.
  bool full() const;

  /// Ends the epoch: the next slot is the first of the next epoch. After the last of `epochs:` this
  /// closes the input. An error: it is closed.
  Result<void> end_epoch();
  /// Ends the input; slots that are held may still be submitted. An error: it was already closed.
  Result<void> close();

 private:
  friend class Run;
  struct Handle;
  explicit Input(std::shared_ptr<Handle> handle) : handle_(std::move(handle)) {}

  std::shared_ptr<Handle> handle_;
};

}  // namespace brigade
