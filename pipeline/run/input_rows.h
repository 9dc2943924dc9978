#pragma once

// What per-sample and per-batch stages have in common: a reader per lane, and a writer unless the
// stage is a consumer.

#include <optional>
#include <vector>

#include "pipeline/run/record_codec.h"
#include "pipeline/run/task_work.h"

namespace brigade {

struct InputRows {
  std::vector<RecordReader> readers;  ///< by lane
  std::optional<RecordWriter> writer;

  explicit InputRows(const ReplicaContext& context);

  /// Turns to a task.
  RecordReader& begin(int lane, std::uint64_t first);
};

}  // namespace brigade
