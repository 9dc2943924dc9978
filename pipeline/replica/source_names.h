#pragma once

// The name that a source gives a sample ("n01440764/x.JPEG"), for the messages of stages below it.
// The source runs in other processes; so the first time a name is wanted, a producer of its own is
// made and opened here. That may take a while, and happens only where a sample has failed.
//
// One replica's; one thread.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <brigade/stage.h>
#include "pipeline/plan/plan.h"

namespace brigade {

class SourceNames {
 public:
  /// Makes and opens the producer of a stage.
  using Open = std::function<Result<std::shared_ptr<Producer>>(const PlanStage& source)>;

  SourceNames() = default;
  explicit SourceNames(Open open) : open_(std::move(open)) {}

  /// Empty where the source is a stream, is not known in this process, or cannot be opened.
  std::string name(const PlanStage& source, std::uint64_t id);

 private:
  Open open_;
  std::map<std::string, std::shared_ptr<Producer>, std::less<>> producers_;  // null: cannot be made
};

}  // namespace brigade
