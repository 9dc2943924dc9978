#include "pipeline/worker/replica/replica.h"

#include <algorithm>
#include <string>
#include <utility>

#include <brigade/random.h>
#include <brigade/text.h>
#include "base/arithmetic.h"
#include "base/atomic_file.h"
#include "base/shared_path.h"
#include "base/units.h"
#include "pipeline/memory/shared_tensors.h"
#include "pipeline/records/record_codec.h"
#include "pipeline/records/ring_ports.h"
#include "pipeline/records/source_weights.h"
#include "pipeline/report/source_audit.h"
#include "pipeline/state/checkpoint_files.h"
#include "pipeline/worker/replica/cache_progress.h"
#include "pipeline/worker/replica/opening.h"
#include "pipeline/worker/replica/reindex_loop.h"
#include "pipeline/worker/replica/task_loop.h"
#include "pipeline/worker/tasks/guarded_call.h"
#include "pipeline/worker/tasks/held_task.h"
#include "pipeline/worker/tasks/source_names.h"
#include "pipeline/worker/tasks/stream_position.h"
#include "transports/stop.h"

namespace brigade {

namespace {

/// Which samples a part of a source has depends on how many the source has found, also where the
/// part has as many as before.
std::uint64_t of_subset(std::uint64_t fingerprint, std::uint64_t found) {
  return std::max<std::uint64_t>(mix64(fingerprint ^ mix64(found)), 1);
}

}  // namespace

struct Replica::State {
  ~State() {
    if (kept) kept->close();
  }

  ReplicaSetup setup;
  ReplicaContext context;
  Opening opening;
  SourceNames source_names;
  std::unique_ptr<Stage> stage;
  std::unique_ptr<Producer> producer;
  std::uint64_t found = 0;               // by an indexed producer
  std::optional<std::uint64_t> samples;  // of them, per epoch, in this process
  std::vector<SkippedInputs> skipped;    // beside these
  std::optional<JoinedQueues<SystemPolicy>> queues;
  std::optional<EpochNotifier> epoch_ends;
  std::optional<CheckpointSaver> checkpoints;
  std::shared_ptr<KeptTasks> kept;
  std::unique_ptr<Work> work;
  CallWork* calls = nullptr;  // the work, where its calls can be made one by one
  std::optional<TaskLoop> loop;

  Result<void> open_stage();
  Result<void> open_producer();
  Result<void> check_size() const;
  Result<void> check_fingerprint(std::uint64_t fingerprint) const;
  bool running() const;
  bool take_shared();
  void prepare_loop();
  void begin_loop();
  void set_work(std::unique_ptr<CallWork> made) {
    calls = made.get();
    work = std::move(made);
  }
};

Result<void> Replica::State::open_stage() {
  BRIGADE_ASSIGN(stage, setup.make_stage());
  const PlanStage& plan = *context.stage;
  std::string saved;  // the stage keeps what it needs of it
  if (plan.saves) BRIGADE_TRY(check_writable(plan.saved_file));
  if (context.resumed().restored) {
    BRIGADE_ASSIGN(saved, read_whole_file(plan.saved_file));
    opening.context.saved = saved;
  }
  Result<void> opened = guarded([&] { return stage->open(opening.context); });
  opening.context.saved = {};
  if (opened.ok() || !context.resumed().restored) return opened;
  return opened.error().within(concat("resuming from ", plan.saved_file));
}

Result<void> Replica::State::open_producer() {
  if (context.stage->parts.empty()) {
    BRIGADE_ASSIGN(producer, setup.make_producer());
    BRIGADE_TRY(guarded([&] { return producer->open(opening.context); }));
  } else {
    BRIGADE_ASSIGN(producer, open_parts(setup, *context.stage, running(), *setup.reporter));
  }
  BRIGADE_ASSIGN(found, guarded([&] { return producer->size(); }));
  const Subset subset(*context.stage, context.stage->seed, found);
  if (found == 0) return Error{"its source has no samples"};
  if (subset.size() == 0)
    return Error{concat("its source has ", format_samples(found),
                        ", but `skip:` and `split:` leave none of them")};
  const auto* const source = dynamic_cast<const SkipsInputs*>(producer.get());
  BRIGADE_ASSIGN(const auto skipped_by_source, guarded([&]() -> Result<std::vector<SkippedInputs>> {
                   return source == nullptr ? std::vector<SkippedInputs>() : source->skipped();
                 }));
  if (is_drawn(*context.stage)) {
    BRIGADE_ASSIGN(producer, drawn(std::move(producer), *context.stage, found, subset));
  }
  const Draws* const draws = draws_of(producer.get());
  BRIGADE_ASSIGN(samples, shard_samples(draws != nullptr ? draws->size() : subset.size(),
                                        context.plan->shard));
  BRIGADE_TRY(check_size());
  // What the graph leaves out, and what the source skips itself.
  skipped = left_out(*context.stage, subset, *samples, context.plan->shard);
  add_skipped(skipped, skipped_by_source);
  BRIGADE_ASSIGN(const std::uint64_t fingerprint,
                 guarded([&]() -> Result<std::uint64_t> { return producer->fingerprint(); }));
  if (draws != nullptr) return check_fingerprint(of_subset(fingerprint, draws->hash()));
  return check_fingerprint(subset.is_front() ? fingerprint : of_subset(fingerprint, found));
}

/// False: the run has ended before they were initialised.
bool Replica::State::take_shared() {
  opening.context.shared_tensors = setup.shared.tensors;
  return await_shared_tensors(
      setup.shared.tensors, [this] { return is_aborting(*context.control); },
      [this](const std::string& line) { setup.reporter->log(line); });
}

bool Replica::State::running() const {
  return context.control->phase->value.load(std::memory_order_acquire) !=
         static_cast<std::uint64_t>(Phase::starting);
}

/// A replica that is started again must find the source that the run began with: its numbers mean
/// the samples that were there then.
Result<void> Replica::State::check_size() const {
  const PlanQueue& queue = context.stage->queues.front();
  const std::uint64_t resumed = context.resume->index_space(queue.index_space).samples;
  if (resumed != 0 && resumed != *samples)
    return Error{concat("its source has ", format_samples(*samples), ", but had ",
                        format_count(resumed),
                        " at the checkpoint; restore them, or restart from scratch")};
  const std::uint64_t before = context.index_space_of(0).epoch_samples.value.load();
  if (!running() || before == kNever || before == *samples) return {};
  return Error{concat("its source has ", format_samples(*samples), ", but had ",
                      format_count(before),
                      " when the run began; its files must not change during a run")};
}

/// The same for what its samples are. The first replica that opens says it for all.
Result<void> Replica::State::check_fingerprint(std::uint64_t fingerprint) const {
  const std::uint64_t resumed = context.resumed().fingerprint;
  if (resumed != 0 && fingerprint != 0 && resumed != fingerprint)
    return Error{
        "its source has different samples now than at the checkpoint; restore them, or restart "
        "from "
        "scratch"};
  std::uint64_t first = 0;
  auto& word = context.words().fingerprint->value;
  if (fingerprint == 0 || word.compare_exchange_strong(first, fingerprint) || first == fingerprint)
    return {};
  return Error{running()
                   ? "its source has different samples now than when the run began; its files "
                     "must not change during a run"
                   : "its source has different samples than another replica found; its files "
                     "must not change during a run"};
}

void Replica::State::prepare_loop() {
  if (context.stage->flat_map_outputs > 0) return;  // ReindexLoop has all that it needs
  queues.emplace(*context.control, context.stage_index, context.replica);
  if (context.stage->is_cache()) {
    queues->give_up_to(CacheProgress(context));
    work = make_cache_work(context);
    return;
  }
  if (stage && context.stage->kind == StageKind::producer) {
    work = context.stage->replicas > 1 ? make_shared_stream_work(context, *stage)
                                       : make_stream_work(context, *stage);
    return;
  }
  if (stage) {
    if (context.stage->keeps) kept = KeptTasks::create(context, *queues);
    set_work(context.stage->batched ? make_batch_work(context, *stage, kept)
                                    : make_sample_work(context, *stage));
    return;
  }
  const IndexSpaceNumber index_space = context.stage->queues.front().index_space;
  const std::uint64_t period =
      epoch_period(*samples, context.plan->index_spaces[index_space].multiple);
  const std::uint64_t epochs = index_space_epochs(*context.plan, index_space);
  queues->at(0).set_own_end(multiply_saturating(period, epochs));
  // Early, so that the stages below know them with their first slot; the start barrier stores the
  // same.
  context.words().source_samples->value.store(found, std::memory_order_release);
  set_epoch(*context.control, index_space, *samples, period);
  set_work(make_producer_work(context, *producer,
                              source_sampler(context, *context.stage, draws_of(producer.get()))));
}

void Replica::State::begin_loop() {
  epoch_ends.emplace(context, *queues, stage.get());
  if (context.stage->saves) checkpoints.emplace(context, *stage, setup.shared.save);
  loop.emplace(context, *queues, *epoch_ends, *work, setup.spins,
               checkpoints ? &*checkpoints : nullptr, kept.get());
}

Replica::Replica(ReplicaSetup setup) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.setup = std::move(setup);
  ReplicaContext& context = state.context;
  context.plan = state.setup.plan;
  context.resume = state.setup.resume;
  context.stage_index = state.setup.stage;
  context.stage = &context.plan->stages[context.stage_index];
  context.replica = state.setup.replica;
  context.control = state.setup.control;
  context.rings = &state.setup.rings;
  context.device = state.setup.device;
  context.reporter = state.setup.reporter;
  state.source_names = SourceNames(
      [owner = &state](const PlanStage& source) { return open_source(owner->setup, source); });
  context.source_names = &state.source_names;
}

Replica::~Replica() = default;
Replica::Replica(Replica&&) noexcept = default;
Replica& Replica::operator=(Replica&&) noexcept = default;

Result<void> Replica::open() {
  State& state = *state_;
  const auto open = [&]() -> Result<bool> {  // false: the run has ended first
    BRIGADE_TRY(prepare(*state.context.plan, *state.context.stage, state.setup.type->contract,
                        state.opening));
    state.opening.context.replica = state.context.replica;
    state.opening.context.again = state.running();
    const ReplicaContext& context = state.context;
    if (context.stage->may_pin())
      state.opening.context.input_memory =
          dense_inputs(*context.plan, *context.stage, *context.rings);
    if (context.device != nullptr) state.opening.context.tensors_device = context.device->device();
    const PlanStage& stage = *state.context.stage;
    const bool stream = stage.kind == StageKind::producer && !stage.indexed;
    if (stream && stage.replicas > 1) {
      state.opening.context.samples_done = shared_stream_position(state.context).index;
    } else if (stream || stage.flat_map_outputs > 0) {
      BRIGADE_ASSIGN(const StreamPosition place, stream_position(state.context));
      if (stream) state.opening.context.epoch = place.epoch;
      if (stream) state.opening.context.samples_done = place.index;
    }
    state.opening.context.reporter = state.setup.reporter;
    if (stage.is_cache()) return true;  // the runtime does its work
    if (!state.take_shared()) return false;
    BRIGADE_TRY(stage.indexed ? state.open_producer() : state.open_stage());
    return true;
  };
  BRIGADE_ASSIGN(const bool opened, open());
  if (!opened) return {};
  for (const SharedTensor& tensor :
       state.setup.shared.tensors)  // a program says it by its first next()
    if (tensor.fill() && !state.context.stage->is_exec()) tensor.set_initialised();
  state.prepare_loop();
  return {};
}

std::optional<std::uint64_t> Replica::source_size() const { return state_->samples; }
const std::vector<SkippedInputs>& Replica::skipped() const { return state_->skipped; }

Result<void> Replica::run() {
  State& state = *state_;
  if (state.context.stage->kind == StageKind::consumer) wait_for_start(state.context);
  if (is_aborting(*state.context.control)) return {};
  if (state.context.stage->flat_map_outputs > 0)
    return ReindexLoop(state.context, *state.stage, state.setup.spins).run();
  state.begin_loop();
  return state.loop->run();
}

Result<std::optional<Call>> Replica::next_call() {
  State& state = *state_;
  if (!state.loop) {
    if (state.context.stage->kind == StageKind::consumer) wait_for_start(state.context);
    if (is_aborting(*state.context.control)) return std::optional<Call>();
    state.begin_loop();
  }
  return state.loop->next_call(*state.calls);
}

Result<void> Replica::settle(Result<Next> answer) {
  return state_->loop->settle(*state_->calls, answer);
}

Result<void> Replica::close() {
  State& state = *state_;
  const Result<void> closed = guarded([&]() -> Result<void> {
    if (state.stage) return state.stage->close();
    if (state.producer) return state.producer->close();
    return {};
  });
  if (!closed.ok()) return closed.error().within("close");
  return {};
}

}  // namespace brigade
