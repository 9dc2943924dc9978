#pragma once

// The name that a source gives a sample ("n01440764/x.JPEG"), for the messages of
// downstream stages, and the draws of a source with weights. The source runs in
// other processes; therefore the first request for a name makes and opens another
// producer here. That may take a while, and happens only where a sample has failed.
//
// One replica's; one thread.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <brigade/stage.h>
#include "pipeline/plan/plan.h"
#include "pipeline/records/draws.h"

namespace brigade {

class SourceNames {
 public:
  /// Makes and opens the producer of a stage.
  using Open = std::function<Result<std::shared_ptr<Producer>>(const PlanStage& source)>;

  SourceNames() = default;
  explicit SourceNames(Open open) : open_(std::move(open)) {}

  /// Empty where the source is a stream, is not known in this process, or cannot be opened.
  std::string name(const PlanStage& source, std::uint64_t id);
  /// Null where its samples do not come by weight; and where it cannot be opened, unless the
  /// weights are those of a file. `found`: the samples that it has.
  const Draws* draws(const PlanStage& source, std::uint64_t found);

 private:
  /// Null: it cannot be made.
  Producer* producer(const PlanStage& source);

  Open open_;
  std::map<std::string, std::shared_ptr<Producer>, std::less<>> producers_;
  std::map<std::string, std::optional<Draws>, std::less<>>
      draws_;  // of those that cannot be opened
};

}  // namespace brigade
