#pragma once

// The common part of per-sample and per-batch stages: a reader
// per task queue, and a writer unless the stage is a consumer.

#include <optional>
#include <vector>

#include "pipeline/records/record_codec.h"
#include "pipeline/worker/tasks/replica_context.h"

namespace brigade {

struct SlotIo {
  ByQueue<RecordReader> readers;
  std::optional<RecordWriter> writer;

  explicit SlotIo(const ReplicaContext& context);

  /// Turns to a task.
  RecordReader& begin(QueueNumber queue, std::uint64_t first);
};

}  // namespace brigade
