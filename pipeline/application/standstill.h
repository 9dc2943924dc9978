#pragma once

// Detects a call of the program that waits for the program itself: all replicas wait, nothing
// makes progress, and the next batch is behind batches that the program has not read. The
// waiting thread checks it, when the supervisor rings it about once a second. One thread.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/worker/tasks/replica_context.h"

namespace brigade {

class Standstill {
 public:
  /// Of an application: one that reads waits for its inputs, one that feeds for memory.
  explicit Standstill(const ReplicaContext& context) : context_(context) {}

  /// A call begins.
  void begin(std::int64_t now_ns);
  /// Whether nothing has moved for a while.
  bool found();

  /// The outputs that hold it up, by name.
  std::vector<std::string> unread() const;
  /// Why, after found(): a part of a line. `what_to_do`: where the program has not read an output.
  /// `otherwise`: where it has; empty: who waits for whom.
  std::string text(std::string_view what_to_do, std::string otherwise = "") const;

 private:
  ReplicaContext context_;
  std::uint64_t moved_ = 0;  // sum of all watermarks when it was looked at last
  std::int64_t looked_ns_ = 0;
  std::int64_t still_since_ns_ = 0;
};

}  // namespace brigade
