#pragma once

// Samples that crashed their worker too often. The supervisor adds their numbers to the
// stage's list before a task with one can be claimed again; a replica skips them without
// a call. To the user that is a failure of the sample, which `on_error:` decides: `stop`
// ends the run with a line that names it, `skip` makes it an empty slot and counts it.
//
// A sample of an indexed source is the same one in every epoch: once in
// quarantine, it is skipped for the rest of the run. A batch that ended its worker
// is quarantined as a whole, because the cause could be any of its samples.
//
// One replica's; one thread. Costs one load per task while the list is empty.

#include <cstdint>
#include <set>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include <brigade/result.h>
#include "pipeline/records/record_codec.h"
#include "pipeline/worker/tasks/error_policy.h"
#include "pipeline/worker/tasks/replica_context.h"

namespace brigade {

class Quarantine {
 public:
  /// `errors` outlives it.
  Quarantine(const ReplicaContext& context, ErrorPolicy& errors)
      : context_(context), errors_(&errors) {}

  bool empty() const { return context_.words().quarantine.empty(); }

  /// Whether a sample must not be given to the stage; `id` is its index in the source.
  bool has(QueueNumber queue, std::uint64_t number, std::uint64_t id);

  /// FULL slots of a task that are in quarantine become empty slots; how many there were. An error:
  /// the run ends. `headers`: of the slots `states` are of.
  Result<std::uint64_t> skip(QueueNumber queue, const SlotHeader* headers, SlotStates& states);

  /// These samples, FULL ones, are skipped: tells the user. An error: the run ends.
  Result<void> skipped(QueueNumber queue, std::span<const SampleInfo> samples);

 private:
  void read_list();
  bool by_id(QueueNumber queue) const;

  ReplicaContext context_;
  ErrorPolicy* errors_;
  std::uint64_t entries_read_ = 0;
  std::unordered_set<std::uint64_t> numbers_;  // SampleAddress::word()
  std::set<std::pair<QueueNumber, std::uint64_t>> ids_;
};

}  // namespace brigade
