#pragma once

// Whether a call of the program waits for something that only the program can do: everybody waits
// for somebody, nothing moves, and what it waits for stands behind batches that the program has not
// read. Looked at by whoever waits, which the supervisor rings about once a second. One thread.
// Where another thread has read those batches' output, it may be at work on one of them for however
// long: that is no standstill.

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "pipeline/replica/replica_context.h"

namespace brigade {

/// Which thread has asked each output for a batch last. Any thread.
class OutputReaders {
 public:
  explicit OutputReaders(std::size_t stages) : threads_(stages) {}

  void asks(StageNumber output) { of(output) = std::this_thread::get_id(); }
  /// Whether nobody else has asked.
  bool only_this_thread(StageNumber output) const {
    const std::thread::id last = threads_[static_cast<std::size_t>(output.value())];
    return last == std::thread::id() || last == std::this_thread::get_id();
  }

 private:
  std::atomic<std::thread::id>& of(StageNumber output) {
    return threads_[static_cast<std::size_t>(output.value())];
  }

  std::vector<std::atomic<std::thread::id>> threads_;  // by stage
};

class Standstill {
 public:
  /// Of an application: one that reads waits for its inputs, one that feeds for memory. `readers`
  /// outlive it.
  Standstill(const ReplicaContext& context, const OutputReaders& readers)
      : context_(context), readers_(readers) {}

  /// A call begins.
  void begin(std::int64_t now_ns);
  /// Whether nothing has moved for a while.
  bool found();

  /// Why, after found(): a part of a line. `what_to_do`: where the program has not read an output.
  /// `otherwise`: where it has; empty: who waits for whom.
  std::string text(std::string_view what_to_do, std::string otherwise = "") const;

 private:
  /// The outputs that hold it up.
  std::vector<StageNumber> unread() const;

  ReplicaContext context_;
  const OutputReaders& readers_;
  std::uint64_t moved_ = 0;  // sum of all watermarks when it was looked at last
  std::int64_t looked_ns_ = 0;
  std::int64_t still_since_ns_ = 0;
};

}  // namespace brigade
