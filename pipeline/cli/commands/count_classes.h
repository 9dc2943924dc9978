#pragma once

// Counts the classes of a source's labels: opens the source, and asks
// it for the label of each sample, or for the names of its classes.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <brigade/stage_types.h>
#include "pipeline/plan/plan.h"

namespace brigade {

struct CountedClasses {
  std::size_t count = 0;           ///< labels are 0 .. count - 1
  std::vector<std::string> names;  ///< none where they are numbers
  std::uint64_t samples = 0;
};

/// Of the first producer of a plan. An error, to be read after the data's name: it cannot be opened
/// or tells no labels; no sample has one; they are no numbers of classes.
Result<CountedClasses> count_classes(const Plan& plan, const StageTypes& types);

}  // namespace brigade
