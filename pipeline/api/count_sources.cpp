#include "pipeline/api/count_sources.h"

#include <memory>
#include <string>
#include <utility>

#include <brigade/skipped_inputs.h>
#include <brigade/text.h>
#include "pipeline/plan/subset.h"
#include "pipeline/records/source_weights.h"
#include "pipeline/worker/replica/opening.h"
#include "pipeline/worker/tasks/guarded_call.h"
#include "stages/detail/keeps_all.h"

namespace brigade {
namespace {

class SilentReporter final : public Reporter {
 public:
  void report(std::string_view, double) override {}
  void report(std::string_view, std::uint64_t) override {}
  void log(std::string_view) override {}
};

class CountSources {
 public:
  CountSources(ValidGraph& graph, const Plan& plan, const StageTypes& types)
      : graph_(graph), plan_(plan) {
    setup_.plan = &plan;
    setup_.find_type = [&types](const PlanStage& source) { return types.find(source.type); };
    setup_.make_source = [](const StageType& type) -> Result<std::unique_ptr<Producer>> {
      if (type.make_producer) return type.make_producer();
      return Error{"its type does not report its number of samples (counts() in its contract)"};
    };
  }

  bool run() {
    for (const StageNumber s : graph_.stages.numbers()) {
      ValidStage& stage = graph_.stages[s];
      const PlanStage& planned = plan_.stages[s];
      if (planned.kind != StageKind::producer || planned.ring.tensors.empty()) continue;
      if (stage.parts.empty()) {
        count(stage, planned);
        continue;
      }
      for (std::size_t i = 0; i < stage.parts.size(); ++i)
        count(stage.parts[i], part_of_mix(planned, planned.parts[i]));
    }
    return any_;
  }

 private:
  void count(ValidStage& stage, const PlanStage& planned) {
    if (!stage.type->indexed || !stage.exec.empty()) return;
    const bool labels_decide = stage.repeat_factor.below != 0 && stage.draws == 0;
    const bool may_keep_all = stage.type->contract.may_drop && !stage.keeps_all;
    if (stage.samples != 0 && !labels_decide && !may_keep_all) return;
    any_ = true;
    if (auto done = ask(stage, planned, labels_decide); !done)
      stage.uncounted = done.error().message;
  }

  Result<void> ask(ValidStage& stage, const PlanStage& planned, bool labels_decide) {
    BRIGADE_ASSIGN(const auto source, open_another(setup_, planned, 0, false, reporter_));
    BRIGADE_ASSIGN(const std::uint64_t samples, guarded([&] { return source->size(); }));
    if (samples == 0) return Error{"its source has no samples"};
    if (const auto* tells = dynamic_cast<const KeepsAll*>(source.get()))
      stage.keeps_all = tells->keeps_all();
    const auto* const skips = dynamic_cast<const SkipsInputs*>(source.get());
    if (skips != nullptr && stage.samples == 0) stage.skipped = skips->skipped();
    stage.samples = samples;
    if (!labels_decide) return {};
    const Subset subset(planned, planned.seed, samples);
    BRIGADE_ASSIGN(const auto by_weight, drawn(source, planned, samples, subset));
    stage.draws = draws_of(by_weight.get())->size();
    return {};
  }

  ValidGraph& graph_;
  const Plan& plan_;
  ReplicaSetup setup_;
  SilentReporter reporter_;
  bool any_ = false;
};

}  // namespace

bool count_sources(ValidGraph& graph, const Plan& plan, const StageTypes& types) {
  return CountSources(graph, plan, types).run();
}

}  // namespace brigade
