#pragma once

// Reads batches of a graph in your own loop. A stage `consumer: application` is an output of the
// graph: the program that starts the run is its only replica.
//
//   auto run = brigade::Pipeline::from_file("train.yaml").value().start(app).value();
//   for (brigade::Batch batch : run->output("train")) step(batch["image"], batch["label"]);
//   return run->wait() ? 0 : 1;  // the loop ends on failure too: wait() says which
//
// A batch is memory of the graph, without a copy. It returns to the graph when its last handle is
// released, on any thread. Until then no stage writes to it, even if the run has ended. Batches
// come in the order of the graph, without padding and dropped samples.
//
// `hold:` is the number of batches that a program may hold at once, counted from the oldest one.
// For one more, next() waits at most `hold_timeout:` (one second), then fails with a message that
// lists where each batch was taken. The run warns once about such a wait.

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

/// One sample of a batch, without the batch dimension; valid while a handle to the batch exists.
class BRIGADE_API Row {
 public:
  /// The tensor `name`; a ragged tensor has the shape of this sample. Aborts if it does not exist.
  TensorView operator[](std::string_view name) const;
  const SampleInfo& info() const;

 private:
  friend class Batch;
  Row(const HeldBatch& batch, std::int64_t sample) : batch_(&batch), sample_(sample) {}

  const HeldBatch* batch_;
  std::int64_t sample_;
};

/// A handle to one batch; copies share it. Any number of threads may read.
class BRIGADE_API Batch {
 public:
  /// The tensor `name`, [size(), ...]; aborts if it does not exist. Its memory is valid while a
  /// handle to the batch exists.
  TensorView operator[](std::string_view name) const { return record_[name]; }
  bool has(std::string_view name) const { return record_.has(name); }
  /// The whole record, as a stage of the graph sees it.
  const Inputs& record() const { return record_; }
  /// Sample i (0 .. size() - 1); read ragged tensors this way.
  Row row(std::int64_t i) const;

  std::int64_t size() const { return record_.samples(); }
  /// The identity of sample i (0 .. size() - 1): its number, its epoch, its index there and its id.
  const SampleInfo& sample(std::int64_t i) const { return record_.info(i); }
  std::uint32_t epoch() const { return record_.info(0).epoch; }
  /// The input port if the output reads several (`join: epochs`, `merge`).
  std::string_view source() const { return record_.port(); }

  /// True if the program may write this tensor while it holds the batch, because no other stage
  /// reads it. Writing any other tensor raises SIGSEGV or changes what other stages read.
  bool writable(const TensorView& tensor) const;
  /// True if the elements of a tensor are contiguous. A ragged tensor is contiguous only within a
  /// row.
  bool dense(const TensorView& tensor) const;
  /// A copy in separate memory that does not count toward `hold:`. Aborts if out of memory.
  Batch clone() const;

 private:
  friend class OutputQueue;
  explicit Batch(std::shared_ptr<const HeldBatch> held);

  std::shared_ptr<const HeldBatch> held_;
  Inputs record_;
};

/// An output of a run; copies share it. Releasing the last one closes it and drops unread batches.
/// One thread at a time uses it.
class BRIGADE_API Output {
 public:
  class Iterator;
  class Batches;
  /// The caller's place, for messages.
  struct Here {
    const char* file = "";
    int line = 0;
  };

  /// The next batch of any epoch; nothing at the end of the epochs, or if the run was stopped or
  /// failed (Run::wait() says which). An error leaves the run unchanged: the program holds more
  /// batches than `hold:` allows, the next batch comes after unread batches of another output, or
  /// another thread is in next().
  Result<std::optional<Batch>> next(Here here = {__builtin_FILE(), __builtin_LINE()});
  /// The next batch of this epoch of each source; nothing at its end.
  Result<std::optional<Batch>> next_in_epoch(std::uint64_t epoch,
                                             Here here = {__builtin_FILE(), __builtin_LINE()});
  /// Same, without waiting: an error with Refusal::interrupted if the batch is not ready.
  Result<std::optional<Batch>> poll_in_epoch(std::uint64_t epoch,
                                             Here here = {__builtin_FILE(), __builtin_LINE()});

  /// An error if the output does not exist or was closed. Any thread.
  Result<void> check() const;
  /// True if no more batches follow. For the thread that calls next().
  bool ended() const;
  /// True if the program holds as many batches as `hold:` allows, so that next() waits for one. For
  /// the thread that calls next().
  bool full() const;

  /// The rest of epoch `epoch`, as a range. Earlier epochs must have been read.
  Batches epoch(std::uint64_t epoch, Here here = {__builtin_FILE(), __builtin_LINE()});
  /// All remaining batches, as a range: `for (Batch batch : output)`. An error of next() ends the
  /// loop and the run; Run::wait() returns it.
  Iterator begin(Here here = {__builtin_FILE(), __builtin_LINE()});
  std::default_sentinel_t end() const { return {}; }

 private:
  friend class Run;
  struct Handle;
  explicit Output(std::shared_ptr<Handle> handle) : handle_(std::move(handle)) {}
  /// Like next(), but an error fails the run; for ranges.
  std::optional<Batch> next_or_fail(std::uint64_t last_epoch, const Here& here);

  std::shared_ptr<Handle> handle_;
};

/// Releases its batch before it asks for the next one.
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
