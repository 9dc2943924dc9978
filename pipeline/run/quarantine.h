#pragma once

// Samples that have ended their worker too often by its own fault. The supervisor notes their
// numbers down in the stage's list before a task with one is given out again; a replica leaves them
// out without a call. To the user that is a failure of the sample, which `on_error:` decides:
// `stop` ends the run with a line that names it, `skip` makes it a hole and counts it.
//
// A sample of an indexed source is the same one in every epoch: once in quarantine, it is left out
// for the rest of the run. A batch that ended its worker is left out once, since nobody can know
// which of its samples did it.
//
// One replica's; one thread. Costs one load per task while the list is empty.

#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "pipeline/run/record_codec.h"
#include "pipeline/run/replica_context.h"
#include "pipeline/run/sample_errors.h"

namespace brigade {

class Quarantine {
 public:
  /// `errors` outlives it.
  Quarantine(const ReplicaContext& context, SampleErrors& errors)
      : context_(context), errors_(&errors) {}

  bool empty() const { return context_.words().quarantine.empty(); }

  /// Whether a sample must not be given to the stage; `id` is its index in the source.
  bool has(int lane, std::uint64_t number, std::uint64_t id);

  /// FULL rows of a task that are in quarantine become holes; how many there were. An error: the
  /// run ends. `headers`: of the rows `states` are of.
  Result<std::uint64_t> leave_out(int lane, const RowHeader* headers, RowStates& states);

  /// These samples, FULL ones, are left out: tells the user. An error: the run ends.
  Result<void> left_out(int lane, std::span<const SampleInfo> samples);

 private:
  void read_list();
  bool by_id(int lane) const;

  ReplicaContext context_;
  SampleErrors* errors_;
  std::uint64_t entries_read_ = 0;
  std::unordered_set<std::uint64_t> numbers_;  // with their lanes
  std::unordered_set<std::uint64_t> ids_;      // likewise
};

}  // namespace brigade
