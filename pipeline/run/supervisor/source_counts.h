#pragma once

// The reports of source replicas on the samples that they found: an audit for each source,
// for the lines at the start of a run and for its summary. The supervisor's thread.

#include <cstdint>
#include <optional>
#include <vector>

#include "pipeline/plan/plan.h"
#include "pipeline/report/run_output.h"
#include "pipeline/report/source_audit.h"
#include "pipeline/run/supervisor/start_barrier.h"

namespace brigade {

class SourceCounts {
 public:
  /// `plan` outlives it.
  explicit SourceCounts(const Plan& plan);

  /// `replica`: number in the graph; `samples`: none of a stream, and of what is no source.
  void ready(int replica, std::optional<std::uint64_t> samples,
             const std::vector<SkippedInputs>& skipped);

  /// The run begins: what caches with a `limit:` find.
  void begin(const std::vector<IndexSpaceStart>& starts);

  /// Of every producer, by the first of its replicas that is ready: all have found the same; and,
  /// once the run has begun, of every cache with a `limit:`.
  std::vector<SourceAudit> audits() const;
  /// A line for each source that skips something; a warning where nobody has asked for it.
  void say(RunOutput& lines) const;

 private:
  const Plan& plan_;
  ByReplica<SourceAudit> by_replica_;
  std::vector<SourceAudit> caches_;
};

}  // namespace brigade
