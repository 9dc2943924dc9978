#include "pipeline/cli/commands/count_classes.h"

#include <algorithm>
#include <memory>
#include <optional>

#include <brigade/labels.h>
#include <brigade/text.h>
#include "base/units.h"
#include "pipeline/worker/replica/opening.h"

namespace brigade {
namespace {

constexpr std::int64_t kClassesCountedMax = 1'000'000;  // more are names of samples, or hashes

Result<std::shared_ptr<Producer>> open_first(const Plan& plan, const StageTypes& types) {
  ReplicaSetup setup;
  setup.plan = &plan;
  setup.find_type = [&types](const PlanStage& source) { return types.find(source.type); };
  setup.make_source = [](const StageType& type) -> Result<std::unique_ptr<Producer>> {
    if (!type.make_producer) return Error{"its samples cannot be read by index"};
    return type.make_producer();
  };
  for (const PlanStage& stage : plan.stages)
    if (stage.kind == StageKind::producer) return open_source(setup, stage);
  return Error{"the graph reads no source"};
}

/// A sample whose label cannot be read is one for `on_error:`, when it comes.
Result<CountedClasses> count_numbers(TellsLabels& labels, std::uint64_t samples) {
  std::int64_t largest = -1;
  std::optional<Error> broken;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const auto label = labels.label_of(i);
    if (!label && !broken) broken = label.error();
    if (!label) continue;
    if (*label < 0 || *label >= kClassesCountedMax)
      return Error{concat("expected class numbers from 0 to ", format_count(kClassesCountedMax - 1),
                          ", found the label ", *label)};
    largest = std::max(largest, *label);
  }
  if (largest < 0 && broken) return *std::move(broken);
  if (largest < 0) return Error{"the source has no samples"};
  return CountedClasses{static_cast<std::size_t>(largest) + 1, {}, samples};
}

}  // namespace

Result<CountedClasses> count_classes(const Plan& plan, const StageTypes& types) {
  BRIGADE_ASSIGN(const std::shared_ptr<Producer> source, open_first(plan, types));
  auto* const labels = dynamic_cast<TellsLabels*>(source.get());
  if (labels == nullptr) return Error{"the source has no labels"};
  std::vector<std::string> names = labels->label_names();
  BRIGADE_ASSIGN(const std::uint64_t samples, source->size());
  if (!names.empty()) return CountedClasses{names.size(), std::move(names), samples};
  return count_numbers(*labels, samples);
}

}  // namespace brigade
