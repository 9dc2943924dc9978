#include "pipeline/run/free_loop.h"

#include "base/text.h"
#include "pipeline/run/rows_before.h"
#include "pipeline/run/task_work.h"
#include "transports/wait.h"

namespace brigade {

FreeLoop::FreeLoop(const ReplicaContext& context, Stage& stage, int spins)
    : context_(context),
      stage_(&stage),
      spins_(spins),
      errors_(context),
      quarantine_(context, errors_),
      counters_(context),
      lanes_(*context.control, context.stage_index),
      pool_(&context.pools[static_cast<std::size_t>(context.stage_index)]),
      domain_(context.stage->lanes.front().domain),
      ends_(&context.control->epoch_ends[static_cast<std::size_t>(domain_)]),
      multiple_(context.plan->domains[static_cast<std::size_t>(domain_)].multiple),
      place_(stream_place(context)),
      at_(&context.replica_words().at.value) {
  for (std::size_t lane = 1; lane < context.stage->lanes.size(); ++lane) add_port(lane);
  const std::uint64_t ended = ends_->count();
  // A predecessor may have recorded the last end and died before it could say that this is all.
  if (ended > 0) end_epoch(*context.control, domain_, ended - 1, ends_->end(ended - 1));
}

void FreeLoop::add_port(std::size_t lane) {
  const PlanStage& stage = *context_.stage;
  PlanStage view = stage;  // as if this were its only input, and its outputs a fixed number
  view.lanes = {stage.lanes[lane]};
  view.fan_out = stage.free_outputs;
  const int domain = stage.lanes[lane].domain;
  ports_.push_back({RecordReader(*context_.plan, stage, stage.lanes[lane], context_.pools),
                    std::make_unique<PrivateRows>(*context_.plan, view, context_.pools,
                                                  static_cast<std::size_t>(context_.stage_index)),
                    context_.plan->domains[static_cast<std::size_t>(domain)].multiple});
}

Result<void> FreeLoop::run() {
  BRIGADE_TRY(tell_epochs());
  while (!over_) {
    const bool has_epochs = place_.epoch < ends_->capacity();
    if (has_epochs && ends_->end(place_.epoch) != kNever) {
      BRIGADE_TRY(pass_epoch());
      continue;
    }
    const Attempt<SystemPolicy> found = next_input();
    if (found.look == Look::claimed) {
      BRIGADE_TRY(take(found.task));
    } else if (is_aborting() || !has_epochs) {
      break;
    } else {
      end_inputs();
    }
  }
  lanes_.pay();
  return {};
}

bool FreeLoop::is_aborting() const {
  return context_.control->phase->value.load(std::memory_order_acquire) ==
         static_cast<std::uint64_t>(Phase::aborting);
}

Attempt<SystemPolicy> FreeLoop::next_input() {
  Cause cause = Cause::input;
  lanes_.set_epoch(place_.epoch);
  const auto attempt = [&] {
    const Attempt<SystemPolicy> found = lanes_.try_input();
    if (found.look == Look::blocked) cause = found.cause;
    return found;
  };
  Attempt<SystemPolicy> found = attempt();
  if (found.look == Look::claimed) return found;
  const auto before_blocking = [&] {
    lanes_.pay();
    counters_.begin_wait(cause);
  };
  const int me = context_.number();
  found = claim_or_wait<SystemPolicy>(context_.control->bells[me], me, spins_, attempt,
                                      before_blocking, lanes_.watched());
  counters_.end_wait(cause);
  return found;
}

Result<void> FreeLoop::take(std::uint64_t number) {
  SystemPolicy::point(FaultPoint::work_start);
  counters_.begin_task();
  Port& port = ports_[static_cast<std::size_t>(lanes_.port())];
  port.reader.begin(number);
  const std::uint64_t before =
      leave_out_before(context_.stage->lanes[static_cast<std::size_t>(lane())], number,
                       port.reader.headers(), port.reader.states());
  BRIGADE_ASSIGN(const std::uint64_t quarantined,
                 quarantine_.leave_out(lane(), port.reader.headers(), port.reader.states()));
  const RowStates& states = port.reader.states();
  RowCounts counts{states.pads, states.holes - before - quarantined, 0, quarantined, 0, before};
  std::uint64_t outputs = 0;
  if (states.full != 0) {
    BRIGADE_ASSIGN(outputs, call(port, number, counts));
    pace_ = counters_.pace();
    if (outputs > 0 && !give(port, lanes_.output().low() - lanes_.begin(), outputs)) return {};
  } else if (closes(port, number)) {
    if (!pad_up_to(closed(lanes_.begin()))) return {};
  }
  pace_ = counters_.pace();
  lanes_.consume(number, counts, pace_);
  counters_.end_task(pace_, outputs);
  return {};
}

/// How many outputs the sample has; they are in the port's rows.
Result<std::uint64_t> FreeLoop::call(Port& port, std::uint64_t number, RowCounts& counts) {
  RecordWriter& writer = port.rows->writer();
  writer.begin(number);
  writer.pass_on(port.reader.headers(), port.reader.states());
  port.reader.select(0);
  writer.select(0);
  const Inputs in = port.reader.inputs();
  Outputs out = writer.outputs();
  out.frame().written = -1;
  at_->store(lane_number(lane(), number), std::memory_order_relaxed);
  Result<Next> answer = guarded([&]() -> Result<Next> { return stage_->process(in, out); });
  at_->store(kNever, std::memory_order_relaxed);
  if (emitted(answer)) {
    writer.commit(0);
    const std::int64_t written = out.frame().written;
    if (written != 0) return static_cast<std::uint64_t>(written < 0 ? 1 : written);
    answer = Next::drop;
  }
  BRIGADE_TRY(settle_call(answer, context_, lane(), {&in.sample(), 1}, errors_));
  ++counts.holes;
  return std::uint64_t{0};
}

/// Whether a row of padding is the last of an input that was closed in the middle of an epoch, and
/// there is something to close here.
bool FreeLoop::closes(Port& port, std::uint64_t number) {
  if (port.reader.states().pads == 0 || (number + 1) % port.multiple != 0) return false;
  return lanes_.output().low() % multiple_ != 0 &&
         number + 1 != epochs_of(lanes_.port()).end(place_.epoch);
}

/// Rows `row` .. `outputs` - 1 of the port, one by one. False: the run is over.
bool FreeLoop::give(const Port& port, std::uint64_t row, std::uint64_t outputs) {
  const RowHeader& from = port.reader.headers()[0];
  const auto ports = static_cast<std::uint64_t>(lanes_.ports());
  const std::uint64_t id = from.id * ports + static_cast<std::uint64_t>(lanes_.port());
  for (; row < outputs; ++row) {
    const std::optional<std::uint64_t> number = room();
    if (!number) return false;
    port.rows->copy_to_pool(row, *number);
    *pool_->headers(*number) = {
        *number,      place_.index,   id * context_.stage->free_outputs + row,
        place_.epoch, RowState::full, {}};
    ++place_.index;
    lanes_.publish(*number, {}, pace_);
  }
  return true;
}

bool FreeLoop::pad_up_to(std::uint64_t end) {
  while (lanes_.output().low() < end) {
    const std::optional<std::uint64_t> number = room();
    if (!number) return false;
    *pool_->headers(*number) = {*number, place_.index, 0, place_.epoch, RowState::pad, {}};
    lanes_.publish(*number, {1, 0, 0}, pace_);
  }
  return true;
}

/// The number of the next output; none: the run is over.
std::optional<std::uint64_t> FreeLoop::room() {
  Attempt<SystemPolicy> found = lanes_.try_output();
  if (found.look == Look::blocked) {
    counters_.interrupt_task();
    const auto before_blocking = [&] {
      lanes_.pay();
      counters_.begin_wait(Cause::memory);
    };
    const int me = context_.number();
    found = claim_or_wait(
        context_.control->bells[me], me, spins_, [&] { return lanes_.try_output(); },
        before_blocking);
    counters_.end_wait(Cause::memory);
  }
  if (found.look != Look::claimed) return std::nullopt;
  return found.task;
}

/// The end of the epoch is recorded: what is left of it is padding.
Result<void> FreeLoop::pass_epoch() {
  if (!pad_up_to(ends_->end(place_.epoch))) {
    over_ = true;
    return {};
  }
  place_ = {place_.epoch + 1, 0};
  return tell_epochs();
}

/// The stage learns of the epochs that are over; a call that was cut short is made again.
Result<void> FreeLoop::tell_epochs() {
  auto& told = context_.replica_words().ended.value;
  for (std::uint64_t epoch = told.load(std::memory_order_relaxed); epoch < place_.epoch; ++epoch) {
    lanes_.pay();
    EpochEnd end{static_cast<std::uint32_t>(epoch), {}};
    if (lanes_.ports() == 1) end.source = context_.stage->lanes.back().inputs.front().port;
    const Result<void> called = guarded([&] { return stage_->epoch_end(end); });
    if (!called.ok())
      return Error{concat(context_.name(), ", end of epoch ", epoch, ": ", called.error().message)};
    told.store(epoch + 1, std::memory_order_relaxed);
    context_.counters().epochs.store(epoch + 1, std::memory_order_relaxed);
  }
  return {};
}

/// No input has anything more in this epoch: each has come to its end, or, after a stop, to an end
/// of its own in the middle of it. In that case the others may have more in the epochs that follow.
void FreeLoop::end_inputs() {
  bool epoch_is_over = true;
  bool all_over = true;
  for (int port = 0; port < lanes_.ports(); ++port) {
    const std::uint64_t low = lanes_.input(port).low();
    epoch_is_over = epoch_is_over && low == epochs_of(port).end(place_.epoch);
    all_over = all_over && low == lanes_.input(port).end();
  }
  const std::uint64_t end = closed(lanes_.output().low());
  if (epoch_is_over || !all_over) {
    return end_epoch(*context_.control, domain_, place_.epoch, end);
  }
  over_ = true;
  if (pad_up_to(end)) end_domain(*context_.control, domain_, end);
}

}  // namespace brigade
