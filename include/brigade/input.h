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
// A slot is one sample in the graph's own memory. Samples are numbered as they were acquired, and
// pass downstream in that order: a batch waits for its slowest slot. A slot that is released
// without submit() is a dropped sample. If nothing was submitted for `max_wait` (of the source that
// reads it), the rest of a begun batch is padding, so that its readers get the samples so far.
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

/// Room for one sample, to be written by one thread at a time, whichever. Its memory is there as
/// long as the slot, also when the run has ended meanwhile.
class BRIGADE_API Slot {
 public:
  Slot(Slot&& other) noexcept;
  Slot& operator=(Slot&& other) noexcept;
  ~Slot();

  /// The tensor of that name, as `tensors:` has it, without a batch dimension; aborts where there
  /// is none. What stood there before is left: the program writes all of it.
  TensorSlot operator[](std::string_view name);
  /// All of it, as a stage that makes such samples has it: names, tensors.
  Outputs record();
  /// Whether it has no sample to write: it was submitted, or moved from.
  bool empty() const { return held_ == nullptr; }
  /// What the sample is called below: its number, its epoch, its place there.
  const SampleInfo& sample() const;

  /// Gives the sample to the graph; afterwards the slot is empty. An error leaves the slot as it
  /// is: a ragged tensor has a shape that `tensors:` does not allow, it was submitted before,
  /// BRIGADE_POISON is set and the program has written beside a tensor, or the run was ended at
  /// once (Run::wait() says why).
  Result<void> submit();

 private:
  friend class InputQueue;
  struct Held;
  explicit Slot(std::unique_ptr<Held> held);

  std::unique_ptr<Held> held_;  // null: submitted, or moved from
};

/// An input of a run; copies share it, and when the last one goes it is closed. One thread at a
/// time acquires, which need not be the same; slots may go anywhere.
class BRIGADE_API Input {
 public:
  /// Where a program asks for slots, for messages.
  struct Here {
    const char* file = "";
    int line = 0;
  };

  /// The next slot; waits while the graph has no room. Nothing when the run takes no more: it was
  /// stopped or has failed (Run::wait() says which). An error, which leaves the run as it is: the
  /// slots of a whole task are held (`chunk:` says how many that is), the graph has no room since
  /// this program does not read its outputs, the input was closed, or another thread is in here.
  Result<std::optional<Slot>> acquire(Here here = {__builtin_FILE(), __builtin_LINE()});
  /// Nothing, too, when there is no room now.
  Result<std::optional<Slot>> try_acquire(Here here = {__builtin_FILE(), __builtin_LINE()});
  /// Nothing, too, when there is no room within `timeout`.
  Result<std::optional<Slot>> acquire_for(std::chrono::nanoseconds timeout,
                                          Here here = {__builtin_FILE(), __builtin_LINE()});

  /// An error where nothing can be given: no such input, or one that was closed. Any thread.
  Result<void> check() const;
  /// Whether the run takes no more. Any thread.
  bool ended() const;
  /// Whether the slots of a whole task have been given and some are held, so that acquire() first
  /// waits for those to come back. Any thread.
  bool full() const;

  /// No more samples in this epoch; the next one acquired is the first of the next. After the last
  /// of `epochs:` that is close(). An error: it is closed.
  Result<void> end_epoch();
  /// No more samples: slots that are held may still be submitted. An error: it was closed before.
  Result<void> close();

 private:
  friend class Run;
  struct Handle;
  explicit Input(std::shared_ptr<Handle> handle) : handle_(std::move(handle)) {}

  std::shared_ptr<Handle> handle_;
};

}  // namespace brigade
