#include "pipeline/run/replica.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"
#include "pipeline/plan/arithmetic.h"
#include "pipeline/run/record_codec.h"
#include "pipeline/run/stage_loop.h"

namespace brigade {

struct Replica::State {
  ReplicaSetup setup;
  ReplicaContext context;
  std::shared_ptr<void> params;  // the contract's struct
  OpenContext open_context;      // stages may keep references into it
  std::unique_ptr<Stage> stage;
  std::unique_ptr<Producer> producer;
  std::uint64_t source_samples = 0;      // of an indexed producer, `limit` applied
  std::optional<std::uint64_t> samples;  // of them, per epoch, in this process
  std::optional<JoinedLanes> lanes;
  std::optional<EpochEnds> epoch_ends;
  std::unique_ptr<TaskWork> work;

  Result<void> parse_params();
  void fill_open_context();
  Result<void> open_stage();
  Result<void> open_producer();
  void prepare_loop();
};

Result<void> Replica::State::parse_params() {
  const StageContract& contract = setup.type->contract;
  params = contract.make_params();
  for (const auto& [name, value] : context.stage->params) {
    const ParamSpec* spec = contract.find_param(name);
    if (spec == nullptr) {
      return Error{concat("the plan has a parameter ", quote(name), " that the contract of ",
                          quote(contract.type), " lacks; plan and program differ")};
    }
    const Result<void> set = set_param(*spec, params.get(), value);
    if (!set.ok()) return set.error().within(concat("parameter ", quote(name)));
  }
  return {};
}

void Replica::State::fill_open_context() {
  const PlanStage& plan = *context.stage;
  OpenContext& open = open_context;
  open.stage = plan.name;
  open.replica = context.replica;
  open.replicas = plan.replicas;
  open.threads = plan.threads;
  open.device = plan.device;
  open.seed = plan.seed;
  open.stream = stream_id(plan.random);
  open.epochs = static_cast<std::uint32_t>(context.plan->epochs);
  for (const PlanLane& lane : plan.lanes) {
    if (!plan.batched) break;
    open.rows_max = std::max(open.rows_max, static_cast<std::int64_t>(lane.task));
  }
  open.checkpoint_file = context.plan->checkpoint_file;
  open.inputs = input_ports(*context.plan, plan);
  open.outputs = own_outputs(plan);
  open.reporter = setup.reporter;
  open.params_data = params.get();
  open.params_type = setup.type->contract.params_type;
}

Result<void> Replica::State::open_stage() {
  BRIGADE_ASSIGN(stage, setup.make_stage());
  return guarded([&] { return stage->open(open_context); });
}

Result<void> Replica::State::open_producer() {
  BRIGADE_ASSIGN(producer, setup.make_producer());
  BRIGADE_TRY(guarded([&] { return producer->open(open_context); }));
  BRIGADE_ASSIGN(std::uint64_t size, guarded([&] { return producer->size(); }));
  const std::uint64_t limit = context.stage->limit;
  source_samples = limit > 0 ? std::min(size, limit) : size;
  if (source_samples == 0) return Error{"its source has no samples"};
  BRIGADE_ASSIGN(samples, shard_samples(source_samples, context.plan->shard));
  return {};
}

void Replica::State::prepare_loop() {
  lanes.emplace(*context.control, *context.stage, context.stage_index, context.replica);
  if (stage && context.stage->kind == StageKind::producer) {
    work = make_stream_work(context, *stage);
    return;
  }
  if (stage) {
    work = context.stage->batched ? make_batch_work(context, *stage)
                                  : make_sample_work(context, *stage);
    return;
  }
  const auto domain = static_cast<std::size_t>(context.stage->lanes.front().domain);
  const std::uint64_t period = epoch_period(*samples, context.plan->domains[domain].multiple);
  lanes->at(0).set_own_end(multiply_saturating(period, context.plan->epochs));
  // Early, so that the stages below know them with their first row; the start barrier stores the
  // same.
  context.domain_of(0).epoch_samples.value.store(*samples, std::memory_order_release);
  context.domain_of(0).epoch_period.value.store(period, std::memory_order_release);
  context.domain_of(0).source_samples.value.store(source_samples, std::memory_order_release);
  work = make_producer_work(context, *producer, source_sampler(context, 0, *context.stage));
}

Replica::Replica(ReplicaSetup setup) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.setup = std::move(setup);
  ReplicaContext& context = state.context;
  context.plan = state.setup.plan;
  context.stage_index = state.setup.stage;
  context.stage = &context.plan->stages[static_cast<std::size_t>(context.stage_index)];
  context.replica = state.setup.replica;
  context.control = state.setup.control;
  context.pools = state.setup.pools;
  context.reporter = state.setup.reporter;
}

Replica::~Replica() = default;
Replica::Replica(Replica&&) noexcept = default;
Replica& Replica::operator=(Replica&&) noexcept = default;

Result<void> Replica::open() {
  State& state = *state_;
  const auto open = [&]() -> Result<void> {
    BRIGADE_TRY(state.parse_params());
    state.fill_open_context();
    return state.context.stage->indexed ? state.open_producer() : state.open_stage();
  };
  const Result<void> opened = open();
  if (!opened.ok()) return opened.error().within(state.context.name());
  state.prepare_loop();
  return {};
}

std::optional<std::uint64_t> Replica::source_size() const { return state_->samples; }

Result<void> Replica::run() {
  State& state = *state_;
  if (state.context.stage->kind == StageKind::consumer) wait_for_start(state.context);
  if (state.context.control->phase->value.load(std::memory_order_acquire) ==
      static_cast<std::uint64_t>(Phase::aborting))
    return {};
  state.epoch_ends.emplace(state.context, *state.lanes, state.stage.get());
  return StageLoop(state.context, *state.lanes, *state.epoch_ends, *state.work, state.setup.spins)
      .run();
}

Result<void> Replica::close() {
  State& state = *state_;
  const Result<void> closed = guarded([&]() -> Result<void> {
    if (state.stage) return state.stage->close();
    if (state.producer) return state.producer->close();
    return {};
  });
  if (!closed.ok()) return closed.error().within(state.context.name() + ", close");
  return {};
}

}  // namespace brigade
