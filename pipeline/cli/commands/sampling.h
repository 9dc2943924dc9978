#pragma once

// Runs the part of a graph that ends in one stage, to
// inspect its samples: `brigade sample` and `brigade sheet`.

#include <cstdint>
#include <string>

#include <brigade/stage_types.h>
#include "pipeline/api/load_and_plan.h"
#include "pipeline/cli/commands/options.h"

namespace brigade {

struct SamplingArguments {
  GraphFiles graph;
  std::string stage;
  std::uint64_t count = 8;
};

/// The graph, --stage, and -n.
void declare_sampling(Options& options, SamplingArguments& arguments);

/// The consumer that looks at samples, one after the other, and logs a line for each, up to
/// `count`.
struct SampleReader {
  std::string type;  ///< one of those that `add` adds
  void (*add)(StageTypes& types) = nullptr;
  const void* params = nullptr;  ///< of that type
  std::string folder;            ///< made if it is not there; empty: none
  std::string place;             ///< where the samples are, for the last line
};

/// In this process, until the reader has seen as many as are wanted, or there are no more. Gives
/// the exit code.
int run_sampling(const SamplingArguments& arguments, const SampleReader& reader,
                 const StageTypes& types);

}  // namespace brigade
