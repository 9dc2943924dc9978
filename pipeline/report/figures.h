#pragma once

// The progress of a run as plain data, read from the shared words at one moment:
// the input of the progress line, the summary and the search for the bottleneck.
// While the pipeline runs, the figures of different stages are microseconds apart.

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/plan/resume_point.h"
#include "transports/layout.h"

namespace brigade {

struct StageFigures {
  std::string name;
  StageKind kind = StageKind::transform;
  int replicas = 1;
  std::uint64_t samples = 0;  ///< FULL slots finished, over all inputs
  std::uint64_t tasks = 0;
  std::uint64_t skipped = 0;  ///< samples given up under `on_error: skip`
  std::uint64_t restarts = 0;
  std::uint64_t epochs = 0;  ///< that all its inputs have passed
  // Nanoseconds, summed over the replicas.
  std::uint64_t busy_ns = 0;
  std::uint64_t wait_in_ns = 0;
  std::uint64_t wait_out_ns = 0;
  std::uint64_t wait_other_ns = 0;
  bool one_replica = false;  ///< it cannot have more
};

struct RunFigures {
  ByStage<StageFigures> stages;
  /// FULL slots finished by consumers: of several consumers the largest; zip counts once, epochs
  /// and merge add up.
  std::uint64_t samples = 0;
  std::uint64_t samples_expected = 0;  ///< at the end of that consumer; 0 while unknown
  std::uint64_t epochs = 0;            ///< completed by every consumer
  std::int64_t first_sample_ns = 0;  ///< CLOCK_MONOTONIC, first slot in a consumer's hand; 0: none
  std::int64_t now_ns = 0;           ///< when this was read
};

/// `now_ns`: CLOCK_MONOTONIC. Times of a replica that works or waits right now include that.
RunFigures read_figures(const Plan& plan, const ResumePoint& resume,
                        const Control<SystemPolicy>& control, std::int64_t now_ns);

}  // namespace brigade
