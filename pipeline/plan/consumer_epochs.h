#pragma once

// The number of samples and batches that each consumer gets in an epoch, if it is known before
// a run: for progress bars, learning-rate schedules and Python's len(). Pure functions.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/plan/plan.h"

namespace brigade {

/// Of one task queue: a consumer under `join: epochs` or `merge` has one for each source.
struct ConsumerEpoch {
  std::string stage;
  std::string port;  ///< of what it reads; of the first source where several are zipped
  /// In this process. Nothing below a stream, below a stage that may drop samples or make any
  /// number of each, below a shuffled cache of what `drop_last` has shortened, and where the source
  /// does not tell. What fails in the run is counted.
  std::optional<std::uint64_t> samples;
  /// That a stage gets, or an output of the program hands out; nothing, too, where samples are
  /// taken one by one.
  std::optional<std::uint64_t> batches;
  /// Why these are not known: "stage "live" is a stream".
  std::string unknown = {};
  friend bool operator==(const ConsumerEpoch&, const ConsumerEpoch&) = default;
};

/// In the order of the plan's stages.
std::vector<ConsumerEpoch> consumer_epochs(const ValidGraph& graph, const Plan& plan);

/// Of an epoch of `samples`, those that lie in whole batches of a task queue: what `drop_last`
/// leaves. Under `assign: fixed` all replicas' batches of a round are short together.
std::uint64_t in_whole_batches(const PlanStage& stage, const PlanQueue& queue,
                               std::uint64_t samples);

}  // namespace brigade
