#include "pipeline/worker/replica/reindex_loop.h"

#include <brigade/text.h>
#include "pipeline/worker/replica/work.h"
#include "pipeline/worker/tasks/guarded_call.h"
#include "pipeline/worker/tasks/resume_filter.h"

namespace brigade {

ReindexLoop::ReindexLoop(const ReplicaContext& context, Stage& stage, int spins)
    : context_(context),
      stage_(&stage),
      spins_(spins),
      errors_(context),
      quarantine_(context, errors_),
      counters_(context),
      ring_(&context.own_ring()),
      place_(stream_position(context).value()),  // Replica::open() has looked
      in_flight_(&context.replica_words().in_flight.value) {
  for (const PlanQueue& queue : context.stage->queues)
    multiples_.push_back(context.plan->index_spaces[queue.index_space].multiple);
  for (const QueueNumber queue : context.stage->queues.numbers(1)) add_port(queue);
}

void ReindexLoop::add_port(QueueNumber queue) {
  const PlanStage& stage = *context_.stage;
  PlanStage view = stage;  // as if this were its only input, and its outputs a fixed number
  view.queues = {stage.queues[queue]};
  view.fan_out = stage.flat_map_outputs;
  ports_.push_back(
      {RecordReader(*context_.plan, stage, stage.queues[queue], *context_.rings, false),
       std::make_unique<StagingSlots>(*context_.plan, view, *context_.rings,
                                      context_.stage_index)});
}

Result<void> ReindexLoop::run() {
  return FlatMapRun<SystemPolicy, ReindexLoop>(*context_.control, context_.stage_index, multiples_,
                                               spins_, *this)
      .run();
}

Result<FlatMapInput> ReindexLoop::look(int port, std::uint64_t number) {
  counters_.begin_task();
  RecordReader& reader = ports_[port].reader;
  reader.begin(number);
  const std::uint64_t before = filter_resumed(context_.resumed(input_queue(port)), number,
                                              reader.headers(), reader.states());
  BRIGADE_ASSIGN(const std::uint64_t quarantined,
                 quarantine_.skip(input_queue(port), reader.headers(), reader.states()));
  const SlotStates& states = reader.states();
  FlatMapInput input;
  input.not_full = {states.pads, states.empty_slots - before - quarantined, 0, quarantined, 0,
                    before};
  if (states.full != 0) {
    BRIGADE_ASSIGN(input.outputs, call(port, number, input.not_full));
  }
  return input;
}

/// How many outputs the sample has; they are in the port's slots.
Result<std::uint64_t> ReindexLoop::call(int port, std::uint64_t number, SlotCounts& counts) {
  RecordReader& reader = ports_[port].reader;
  RecordWriter& writer = ports_[port].slots->writer();
  writer.begin(number);
  writer.pass_on(reader.headers(), reader.states());
  reader.select(0);
  writer.select(0);
  const Inputs in = reader.inputs();
  Outputs out = writer.outputs();
  out.frame().written = -1;
  in_flight_->store(SampleAddress{input_queue(port), number}.word(), std::memory_order_relaxed);
  Result<Next> answer = guarded([&]() -> Result<Next> { return stage_->process(in, out); });
  writer.check_shapes(answer);
  in_flight_->store(kNever, std::memory_order_relaxed);
  if (emitted(answer)) {
    writer.commit(0);
    const std::int64_t written = out.frame().written;
    if (written != 0) return static_cast<std::uint64_t>(written < 0 ? 1 : written);
    answer = Next::drop;
  }
  BRIGADE_TRY(settle_call(answer, context_, input_queue(port), {&in.info(), 1}, errors_));
  ++counts.empty_slots;
  return std::uint64_t{0};
}

std::uint64_t ReindexLoop::index_in(std::uint64_t epoch) {
  if (place_.epoch != epoch) place_ = {static_cast<std::uint32_t>(epoch), 0, false};
  return place_.index;
}

void ReindexLoop::write(int port, std::uint64_t i, std::uint64_t number, std::uint64_t epoch) {
  Port& from = ports_[port];
  from.slots->copy_to_ring(i, number);
  const std::uint64_t id =
      from.reader.headers()[0].id * ports_.size() + static_cast<std::uint64_t>(port);
  const std::uint64_t index = index_in(epoch);
  *ring_->headers(number) = {
      {number, index, id * context_.stage->flat_map_outputs + i, place_.epoch}, SlotState::full};
  ++place_.index;
}

void ReindexLoop::pad(std::uint64_t number, std::uint64_t epoch) {
  const std::uint64_t index = index_in(epoch);
  *ring_->headers(number) = {{number, index, 0, place_.epoch}, SlotState::pad};
}

void ReindexLoop::done(const FlatMapInput& input) { counters_.end_task(input.outputs); }

Result<void> ReindexLoop::tell(std::uint64_t epoch) {
  EpochEnd end{static_cast<std::uint32_t>(epoch), {}};
  if (ports_.size() == 1) end.source = context_.stage->queues.back().inputs.front().port;
  const Result<void> called = guarded([&] { return stage_->epoch_end(end); });
  if (!called.ok()) return called.error().within(concat("end of epoch ", epoch));
  context_.counters().epochs.store(epoch + 1, std::memory_order_relaxed);
  return {};
}

}  // namespace brigade
