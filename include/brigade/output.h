#pragma once

// Reads batches of a graph in a program's own loop. A stage `consumer: application`
// is an output of the graph: the program that starts the run is its one replica.
//
//   auto run = brigade::Pipeline::from_file("train.yaml").value().start(app).value();
//   for (brigade::Batch batch : run->output("train")) step(batch["image"], batch["label"]);
//   return run->wait() ? 0 : 1;  // the loop ends on failure too: wait() says which
//
// A batch is the graph's own memory, without a copy. It returns to the graph when the
// last handle on it is gone, on any thread; no stage writes to it until then, even if the
// run has ended. Batches are in the graph's order, without padding and dropped samples.
//
// `hold:` says how many batches a program may have at once, counted from the oldest one that it
// still holds. For one more than that next() waits, at most `hold_timeout:` (a second), and then
// fails with a line that says where each was taken. The run warns once of such a wait.

#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <brigade/export.h>
#include <brigade/record.h>
#include <brigade/result.h>

namespace brigade {

class HeldBatch;
class OutputQueue;

/// One sample of a batch, without the batch dimension. Like what it shows, it is there as long as a
/// handle on the batch.
class BRIGADE_API Row {
 public:
  /// The tensor of that name, a ragged one in the shape that this sample has; aborts where there is
  /// none.
  TensorView operator[](std::string_view name) const;
  const SampleInfo& info() const;

 private:
  friend class Batch;
  Row(const HeldBatch& batch, std::int64_t sample) : batch_(&batch), sample_(sample) {}

  const HeldBatch* batch_;
  std::int64_t sample_;
};

/// A handle on one batch; copies share it. Reading is for any number of threads.
class BRIGADE_API Batch {
 public:
  /// The tensor of that name, [size(), ...]; aborts where there is none. Its memory is there as
  /// long as a handle on the batch.
  TensorView operator[](std::string_view name) const { return record_[name]; }
  bool has(std::string_view name) const { return record_.has(name); }
  /// All of it, as a stage of the graph sees it: names, single samples.
  const Inputs& record() const { return record_; }
  /// Sample i (0 .. size() - 1): ragged tensors are read so.
  Row row(std::int64_t i) const;

  std::int64_t size() const { return record_.samples(); }
  /// Where sample i (0 .. size() - 1) comes from: its number, its epoch, its place there, its id.
  const SampleInfo& sample(std::int64_t i) const { return record_.info(i); }
  std::uint32_t epoch() const { return record_.info(0).epoch; }
  /// The port it came through, where the output reads several (`join: epochs`, `merge`).
  std::string_view source() const { return record_.port(); }

  /// Whether the program may write what is under a tensor of this batch, for as long as it holds
  /// it: nobody else reads it. A store to what it may not write is a SIGSEGV, or seen by others.
  bool writable(const TensorView& tensor) const;
  /// Whether the elements of a tensor follow one another. Those of a ragged one do in each row
  /// only.
  bool dense(const TensorView& tensor) const;
  /// A copy in memory of its own, which counts for nothing in `hold:`. Aborts without memory.
  Batch clone() const;

 private:
  friend class OutputQueue;
  explicit Batch(std::shared_ptr<const HeldBatch> held);

  std::shared_ptr<const HeldBatch> held_;
  Inputs record_;
};

/// An output of a run; copies share it, and when the last one goes it is closed: what it has not
/// given is read by nobody. One thread at a time, which need not be the same.
class BRIGADE_API Output {
 public:
  class Iterator;
  class Batches;
  /// Where a program asks for batches, for messages.
  struct Here {
    const char* file = "";
    int line = 0;
  };

  /// The next batch, whatever its epoch; nothing at the end: of the epochs, of a run that was
  /// stopped or that failed (Run::wait() says which). An error, which leaves the run as it is: more
  /// batches are held than `hold:` allows, what it waits for stands behind batches that another
  /// output has not given, or another thread is in next().
  Result<std::optional<Batch>> next(Here here = {__builtin_FILE(), __builtin_LINE()});
  /// The next batch of this epoch of each source; nothing at its end.
  Result<std::optional<Batch>> next_in_epoch(std::uint64_t epoch,
                                             Here here = {__builtin_FILE(), __builtin_LINE()});
  /// Likewise, without a wait: an error with Refusal::interrupted where it is not there yet.
  Result<std::optional<Batch>> poll_in_epoch(std::uint64_t epoch,
                                             Here here = {__builtin_FILE(), __builtin_LINE()});

  /// An error where there is nothing to read: no such output, or one that was closed. Any thread.
  Result<void> check() const;
  /// Whether nothing will be given any more. Of the thread that calls next().
  bool ended() const;
  /// Whether as many batches are held as `hold:` allows, so that next() first waits for one to be
  /// returned. Of the thread that calls next().
  bool full() const;

  /// What is left of epoch `epoch`, as a range. Epochs that come before it must have been read.
  Batches epoch(std::uint64_t epoch, Here here = {__builtin_FILE(), __builtin_LINE()});
  /// All that is left, as a range: `for (Batch batch : output)`. An error of next() ends the loop
  /// and the run, and Run::wait() says it.
  Iterator begin(Here here = {__builtin_FILE(), __builtin_LINE()});
  std::default_sentinel_t end() const { return {}; }

 private:
  friend class Run;
  struct Handle;
  explicit Output(std::shared_ptr<Handle> handle) : handle_(std::move(handle)) {}
  /// As a range does it: an error fails the run.
  std::optional<Batch> next_or_fail(std::uint64_t last_epoch, const Here& here);

  std::shared_ptr<Handle> handle_;
};

/// Lets go of its batch before it asks for the next.
class Output::Iterator {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = Batch;

  Iterator(Output output, std::uint64_t last_epoch, const Here& here)
      : output_(std::move(output)), last_epoch_(last_epoch), here_(here) {
    ++*this;
  }
  const Batch& operator*() const { return *batch_; }
  const Batch* operator->() const { return &*batch_; }
  Iterator& operator++() {
    batch_.reset();
    batch_ = output_.next_or_fail(last_epoch_, here_);
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const Iterator& at, std::default_sentinel_t) { return !at.batch_; }

 private:
  Output output_;
  std::uint64_t last_epoch_;
  Here here_;
  std::optional<Batch> batch_;
};

class Output::Batches {
 public:
  Batches(Output output, std::uint64_t last_epoch, const Here& here)
      : output_(std::move(output)), last_epoch_(last_epoch), here_(here) {}
  Iterator begin() const { return {output_, last_epoch_, here_}; }
  std::default_sentinel_t end() const { return {}; }

 private:
  Output output_;
  std::uint64_t last_epoch_;
  Here here_;
};

inline Output::Batches Output::epoch(std::uint64_t epoch, Here here) {
  return {*this, epoch, here};
}

}  // namespace brigade
