#include "pipeline/worker/replica/opening.h"

#include <algorithm>
#include <utility>

#include <brigade/random.h>
#include <brigade/text.h>
#include "pipeline/records/mixed_producer.h"
#include "pipeline/records/ring_ports.h"
#include "pipeline/records/source_weights.h"
#include "pipeline/worker/tasks/guarded_call.h"

namespace brigade {
namespace {

/// A producer of another stage, opened here to name its samples.
struct OpenedSource {
  Opening opening;
  std::unique_ptr<Producer> producer;
};

class SilentReporter final : public Reporter {
 public:
  void report(std::string_view, double) override {}
  void report(std::string_view, std::uint64_t) override {}
  void log(std::string_view) override {}
};

Result<std::shared_ptr<void>> make_params(const StageContract& contract, const PlanStage& plan) {
  std::shared_ptr<void> params = contract.make_params();
  if (plan.is_exec()) return params;  // they are its program's
  for (const auto& [name, value] : plan.params) {
    const ParamSpec* spec = contract.find_param(name);
    if (spec == nullptr) {
      return Error{concat("the plan has a parameter ", quote(name), " that the contract of ",
                          quote(contract.type), " lacks; plan and program differ")};
    }
    const Result<void> set = set_param(*spec, params.get(), value);
    if (!set.ok()) return set.error().within(concat("parameter ", quote(name)));
  }
  return params;
}

}  // namespace

Result<void> prepare(const Plan& plan, const PlanStage& stage, const StageContract& contract,
                     Opening& out) {
  BRIGADE_ASSIGN(out.params, make_params(contract, stage));
  OpenContext& open = out.context;
  open.stage = stage.name;
  open.replicas = stage.replicas;
  open.threads = stage.threads;
  open.device = stage.device;
  open.pin = stage.pin;
  open.hold = stage.hold;
  open.seed = stage.seed;
  open.stream = stream_id(stage.random);
  open.epochs =
      static_cast<std::uint32_t>(index_space_epochs(plan, stage.queues.front().index_space));
  for (const PlanQueue& queue : stage.queues) {
    if (!stage.batched) break;
    open.samples_max = std::max(open.samples_max, static_cast<std::int64_t>(queue.task));
  }
  open.inputs = input_ports(plan, stage);
  open.outputs = own_outputs(stage);
  open.params_data = out.params.get();
  open.params_type = contract.params_type;
  return {};
}

Result<std::shared_ptr<Producer>> open_another(const ReplicaSetup& setup, const PlanStage& source,
                                               int replica, bool again, Reporter& reporter) {
  const StageType* type = setup.find_type ? setup.find_type(source) : nullptr;
  if (type == nullptr || !setup.make_source) return Error{"its type is unknown in this process"};
  auto opened = std::make_shared<OpenedSource>();
  BRIGADE_TRY(prepare(*setup.plan, source, type->contract, opened->opening));
  opened->opening.context.replica = replica;
  opened->opening.context.reporter = &reporter;
  opened->opening.context.again = again;
  BRIGADE_ASSIGN(opened->producer, setup.make_source(*type));
  BRIGADE_TRY(guarded([&] { return opened->producer->open(opened->opening.context); }));
  return std::shared_ptr<Producer>(opened, opened->producer.get());
}

Result<std::unique_ptr<Producer>> drawn(std::shared_ptr<Producer> source, const PlanStage& stage,
                                        std::uint64_t found, const Subset& subset) {
  BRIGADE_ASSIGN(Draws draws, guarded([&] { return make_draws(stage, *source, found, subset); }));
  return std::unique_ptr<Producer>(
      std::make_unique<DrawnProducer>(std::move(source), std::move(draws)));
}

PlanStage part_of_mix(const PlanStage& mix, const PlanStage& part) {
  PlanStage whole = mix;
  whole.parts.clear();
  whole.type = part.type;
  whole.params = part.params;
  whole.random = part.random;
  return whole;
}

/// What a mixture draws from; each writes into the slots of the mixture.
Result<std::unique_ptr<Producer>> open_parts(const ReplicaSetup& setup, const PlanStage& mix,
                                             bool again, Reporter& reporter) {
  std::vector<std::shared_ptr<Producer>> parts;
  for (const PlanStage& part : mix.parts) {
    auto opened = open_another(setup, part_of_mix(mix, part), setup.replica, again, reporter);
    if (!opened) return opened.error().within(part.name);
    parts.push_back(std::move(*opened));
  }
  return guarded([&]() -> Result<std::unique_ptr<Producer>> {
    BRIGADE_ASSIGN(auto mixed, MixedProducer::make(mix, std::move(parts)));
    return std::unique_ptr<Producer>(std::move(mixed));
  });
}

Result<std::shared_ptr<Producer>> open_source(const ReplicaSetup& setup, const PlanStage& source) {
  static SilentReporter silent;
  if (!is_drawn(source)) return open_another(setup, source, 0, true, silent);
  std::shared_ptr<Producer> opened;
  if (source.parts.empty()) {
    BRIGADE_ASSIGN(opened, open_another(setup, source, 0, true, silent));
  } else {
    BRIGADE_ASSIGN(opened, open_parts(setup, source, true, silent));
  }
  BRIGADE_ASSIGN(const std::uint64_t size, guarded([&] { return opened->size(); }));
  BRIGADE_ASSIGN(opened, drawn(std::move(opened), source, size, Subset(source, source.seed, size)));
  return opened;
}

}  // namespace brigade
