#include "pipeline/run/free_loop.h"

#include "base/text.h"
#include "pipeline/run/rows_before.h"
#include "pipeline/run/task_work.h"

namespace brigade {

FreeLoop::FreeLoop(const ReplicaContext& context, Stage& stage, int spins)
    : context_(context),
      stage_(&stage),
      spins_(spins),
      errors_(context),
      quarantine_(context, errors_),
      counters_(context),
      pool_(&context.pools[static_cast<std::size_t>(context.stage_index)]),
      place_(stream_place(context).value()),  // Replica::open() has looked
      at_(&context.replica_words().at.value) {
  for (const PlanLane& lane : context.stage->lanes)
    multiples_.push_back(context.plan->domains[static_cast<std::size_t>(lane.domain)].multiple);
  for (std::size_t lane = 1; lane < context.stage->lanes.size(); ++lane) add_port(lane);
}

void FreeLoop::add_port(std::size_t lane) {
  const PlanStage& stage = *context_.stage;
  PlanStage view = stage;  // as if this were its only input, and its outputs a fixed number
  view.lanes = {stage.lanes[lane]};
  view.fan_out = stage.free_outputs;
  ports_.push_back({RecordReader(*context_.plan, stage, stage.lanes[lane], context_.pools),
                    std::make_unique<PrivateRows>(*context_.plan, view, context_.pools,
                                                  static_cast<std::size_t>(context_.stage_index))});
}

Result<void> FreeLoop::run() {
  return FreeRun<SystemPolicy, FreeLoop>(*context_.control, context_.stage_index, multiples_,
                                         spins_, *this)
      .run();
}

Result<FreeInput> FreeLoop::look(int port, std::uint64_t number) {
  counters_.begin_task();
  RecordReader& reader = ports_[static_cast<std::size_t>(port)].reader;
  reader.begin(number);
  const std::uint64_t before =
      leave_out_before(context_.stage->lanes[static_cast<std::size_t>(1 + port)], number,
                       reader.headers(), reader.states());
  BRIGADE_ASSIGN(const std::uint64_t quarantined,
                 quarantine_.leave_out(1 + port, reader.headers(), reader.states()));
  const RowStates& states = reader.states();
  FreeInput input;
  input.not_full = {states.pads, states.holes - before - quarantined, 0, quarantined, 0, before};
  if (states.full != 0) {
    BRIGADE_ASSIGN(input.outputs, call(port, number, input.not_full));
  }
  return input;
}

/// How many outputs the sample has; they are in the port's rows.
Result<std::uint64_t> FreeLoop::call(int port, std::uint64_t number, RowCounts& counts) {
  RecordReader& reader = ports_[static_cast<std::size_t>(port)].reader;
  RecordWriter& writer = ports_[static_cast<std::size_t>(port)].rows->writer();
  writer.begin(number);
  writer.pass_on(reader.headers(), reader.states());
  reader.select(0);
  writer.select(0);
  const Inputs in = reader.inputs();
  Outputs out = writer.outputs();
  out.frame().written = -1;
  at_->store(lane_number(1 + port, number), std::memory_order_relaxed);
  Result<Next> answer = guarded([&]() -> Result<Next> { return stage_->process(in, out); });
  writer.check_shapes(answer);
  at_->store(kNever, std::memory_order_relaxed);
  if (emitted(answer)) {
    writer.commit(0);
    const std::int64_t written = out.frame().written;
    if (written != 0) return static_cast<std::uint64_t>(written < 0 ? 1 : written);
    answer = Next::drop;
  }
  BRIGADE_TRY(settle_call(answer, context_, 1 + port, {&in.sample(), 1}, errors_));
  ++counts.holes;
  return std::uint64_t{0};
}

std::uint64_t FreeLoop::index_in(std::uint64_t epoch) {
  if (place_.epoch != epoch) place_ = {static_cast<std::uint32_t>(epoch), 0, false};
  return place_.index;
}

void FreeLoop::write(int port, std::uint64_t i, std::uint64_t number, std::uint64_t epoch) {
  Port& from = ports_[static_cast<std::size_t>(port)];
  from.rows->copy_to_pool(i, number);
  const std::uint64_t id =
      from.reader.headers()[0].id * ports_.size() + static_cast<std::uint64_t>(port);
  const std::uint64_t index = index_in(epoch);
  *pool_->headers(number) = {number,       index,          id * context_.stage->free_outputs + i,
                             place_.epoch, RowState::full, {}};
  ++place_.index;
}

void FreeLoop::pad(std::uint64_t number, std::uint64_t epoch) {
  const std::uint64_t index = index_in(epoch);
  *pool_->headers(number) = {number, index, 0, place_.epoch, RowState::pad, {}};
}

void FreeLoop::done(const FreeInput& input) { counters_.end_task(input.outputs); }

Result<void> FreeLoop::tell(std::uint64_t epoch) {
  EpochEnd end{static_cast<std::uint32_t>(epoch), {}};
  if (ports_.size() == 1) end.source = context_.stage->lanes.back().inputs.front().port;
  const Result<void> called = guarded([&] { return stage_->epoch_end(end); });
  if (!called.ok())
    return Error{concat(context_.name(), ", end of epoch ", epoch, ": ", called.error().message)};
  context_.counters().epochs.store(epoch + 1, std::memory_order_relaxed);
  return {};
}

}  // namespace brigade
