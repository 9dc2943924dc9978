#include "tests/transports/stepping/stepped_line.h"

#include <algorithm>

#include <brigade/text.h>

namespace brigade::stepping {

using support::expected_value;
using support::next_value;

SteppedLine::SteppedLine(const Scenario& scenario)
    : SteppedRun(scenario, support::line_shape(scenario.stages)),
      scenario_(scenario),
      multiple_(support::line_multiple(shape_)) {}

void SteppedLine::reset() {
  set_end(control_, 0, scenario_.samples, scenario_.samples, 1);
  stages_.assign(shape_.stages.size(), {});
  for (const StageNumber s : stages_.numbers()) {
    const StageShape& stage = shape_.stages[s];
    stages_[s].slots.resize(stage.slots);
    const std::uint64_t samples = samples_of(s);
    stages_[s].commits.resize(samples / stage.queues[0].task);
    stages_[s].committed_state.resize(samples * stage.fan_out);
  }
}

std::uint64_t SteppedLine::own_state() const {
  std::uint64_t hash = 0;
  for (const StageState& stage : stages_) {
    for (const Slot& slot : stage.slots) {
      hash = mix(hash, mix(slot.number, mix(slot.value, static_cast<std::uint64_t>(slot.state))));
    }
    for (int commits : stage.commits) hash = mix(hash, static_cast<std::uint64_t>(commits));
    for (SlotState state : stage.committed_state)
      hash = mix(hash, static_cast<std::uint64_t>(state));
  }
  return hash;
}

/// Holds as many tasks as it may, lets the newest go first, and still holds some when it hears of
/// the end.
void SteppedLine::program(StageNumber stage) {
  Channel<P> channel(control_, stage, 0, 0);
  if (scenario_.stages[stage].any_order) channel.take_any_order();
  std::vector<std::pair<std::uint64_t, SlotCounts>> held;
  const auto let_go = [&] {
    for (; !held.empty(); held.pop_back()) {
      const auto& [task, counts] = held.back();
      const std::uint64_t size = channel.task_size();
      for (std::uint64_t s = task * size; s < (task + 1) * size; ++s) check_input(stage, s);
      fibers_->current().task = task;
      channel.finish(task, counts);
    }
  };
  while (const auto task = claim(channel, stage, 0)) {
    held.emplace_back(*task, work(stage, 0, *task));
    if (held.size() == scenario_.stages[stage].hold) let_go();
  }
  let_go();
}

void SteppedLine::live(StageNumber stage, int replica) {
  if (scenario_.stages[stage].hold > 1) return program(stage);
  Channel<P> channel(control_, stage, 0, replica);
  while (const auto task = claim(channel, stage, replica)) {
    fibers_->current().task = *task;
    const SlotCounts counts = work(stage, replica, *task);
    channel.finish(*task, counts);
  }
}

SlotCounts SteppedLine::work(StageNumber stage, int replica, std::uint64_t task) {
  StageState& state = stages_[stage];
  auto& at = control_.replicas[global(stage, replica)].in_flight.value;
  const std::uint64_t size = shape_of(stage).queues[0].task;
  const std::uint64_t fan_out = shape_of(stage).fan_out;
  SlotCounts counts;
  if (scenario_.waits_for_below && shape_of(stage).source)
    fibers_->wait_until([this, task, size] { return is_done_below(task * size); });
  if (scenario_.first_waits_for_second && stage == 0 && task == 0)
    fibers_->wait_until([this] { return stages_.back().commits[1] == 1; });
  for (std::uint64_t sample = task * size; sample < (task + 1) * size; ++sample) {
    Slot slot = make_slot(stage, sample);
    // Only a sample that the stage is called with is "in flight".
    at.store(slot.state == SlotState::full ? sample : kNever, std::memory_order_relaxed);
    if (slot.state != SlotState::full)
      ++(is_poison_of(stage, sample) ? counts.quarantined : counts.empty_slots);
    if (state.slots.empty()) continue;
    for (std::uint64_t i = 0; i < fan_out; ++i) {
      Slot& shared = state.slots[(sample * fan_out + i) % state.slots.size()];
      shared = {kNever, 0, SlotState::pad};  // half written, should anybody look
      fibers_->step();
      slot.number = sample * fan_out + i;
      shared = slot;
      ++slot.value;
    }
  }
  fibers_->step();  // the inputs must still be there
  for (std::uint64_t sample = task * size; sample < (task + 1) * size; ++sample) {
    check_input(stage, sample);
  }
  at.store(kNever, std::memory_order_relaxed);
  return counts;
}

/// Every task below the sources that ends at `sample` or before it has been committed.
bool SteppedLine::is_done_below(std::uint64_t sample) const {
  for (const StageNumber s : stages_.numbers()) {
    if (shape_of(s).source) continue;
    const auto& commits = stages_[s].commits;
    const std::uint64_t tasks =
        sample * support::queue_scale(shape_, s) / shape_of(s).queues[0].task;
    if (std::find(commits.begin(), commits.begin() + static_cast<std::ptrdiff_t>(tasks), 0) !=
        commits.begin() + static_cast<std::ptrdiff_t>(tasks))
      return false;
  }
  return true;
}

SteppedLine::Slot SteppedLine::make_slot(StageNumber stage, std::uint64_t sample) {
  const auto& inputs = shape_of(stage).queues[0].inputs;
  Slot slot{sample, inputs.empty() ? sample : 0, SlotState::full};
  if (inputs.empty() && is_empty(sample)) slot.state = SlotState::empty;
  check_input(stage, sample);
  for (const StageNumber input : inputs) {
    const auto& slots = stages_[input].slots;
    slot.value += slots[sample % slots.size()].value;
    if (slots[sample % slots.size()].state != SlotState::full) slot.state = SlotState::empty;
  }
  const auto& quarantine = control_.stages[stage].quarantine;
  if (!quarantine.empty() && quarantine.contains(sample)) slot.state = SlotState::empty;
  slot.value = next_value(stage, slot.value);
  return slot;
}

void SteppedLine::check_input(StageNumber stage, std::uint64_t sample) {
  for (const StageNumber input : shape_of(stage).queues[0].inputs) {
    const StageState& state = stages_[input];
    const Slot& slot = state.slots[sample % state.slots.size()];
    if (slot.number != sample || slot.value != expected_value(shape_, input, sample) ||
        slot.state != state.committed_state[sample]) {
      fibers_->fail(concat("stage ", stage.value(), " read something else as sample ", sample));
    }
  }
}

std::vector<std::uint64_t> SteppedLine::poisoned() const {
  const auto at = control_.replicas[global(scenario_.victim_stage, 0)].in_flight.value.raw();
  if (!scenario_.poison || at == kNever) return {};
  return {at};
}

void SteppedLine::lower_ends() {
  if (scenario_.wrong_end == WrongEnd::none) return lower_end(control_, 0, multiple_);
  if (scenario_.wrong_end == WrongEnd::not_rounded) return lower_end(control_, 0, 1);
  if (scenario_.wrong_end == WrongEnd::of_watermark)
    return lower_end_to(control_, 0, closed(level(0, 0), multiple_));
  auto& words = *control_.index_spaces[0];
  words.end.value.store(claimed_end(control_, 0, multiple_), std::memory_order_seq_cst);
  words.stop.value.store(static_cast<std::uint64_t>(Stop::end_is_set), std::memory_order_seq_cst);
}

// --- what must hold ------------------------------------------------------------------------------

void SteppedLine::passed(Fiber& fiber, FaultPoint point) {
  if (point != FaultPoint::finish_after_done) return;
  StageState& state = stages_[fiber.stage];
  const std::uint64_t size = shape_of(fiber.stage).queues[0].task;
  if (++state.commits[fiber.task] != 1) {
    fibers_->fail(
        concat("task ", fiber.task, " of stage ", fiber.stage.value(), " committed twice"));
  }
  const std::uint64_t slots = size * shape_of(fiber.stage).fan_out;
  for (std::uint64_t number = fiber.task * slots; number < (fiber.task + 1) * slots; ++number) {
    if (state.slots.empty()) continue;
    const Slot& slot = state.slots[number % state.slots.size()];
    state.committed_state[number] = slot.state;
    if (slot.number == number && slot.value == expected_value(shape_, fiber.stage, number))
      continue;
    fibers_->fail(
        concat("slot ", number, " of stage ", fiber.stage.value(), " committed half written"));
  }
}

void SteppedLine::moved(StageNumber stage, std::uint64_t from, std::uint64_t to) {
  const auto& commits = stages_[stage].commits;
  const std::uint64_t size = shape_of(stage).queues[0].task;
  for (std::uint64_t task = from / size; task < to / size; ++task)
    if (task >= commits.size() || commits[task] != 1)
      fibers_->fail(concat("the watermark of stage ", stage.value(), " passed task ", task,
                           ", not committed"));
}

void SteppedLine::check_the_end() {
  const std::uint64_t end = control_.index_spaces[0]->end.value.raw();
  if (end > scenario_.samples || end % multiple_ != 0) fibers_->fail("a wrong end");
  if (!scenario_.stop && end != scenario_.samples) fibers_->fail("the end has moved");
  for (const StageNumber s : stages_.numbers()) {
    const std::uint64_t own_end = end * support::queue_scale(shape_, s);
    if (level(s, 0) != own_end)
      fibers_->fail(concat("stage ", s.value(), " stopped at ", level(s, 0), " of ", own_end));
    const auto& commits = stages_[s].commits;
    for (std::uint64_t task = own_end / shape_of(s).queues[0].task; task < commits.size(); ++task)
      if (commits[task] != 0) fibers_->fail(concat("task ", task, " is beyond the end"));
    for (const StageNumber input : shape_of(s).queues[0].inputs) check_audit(input, s, own_end);
  }
}

// FULL in its inputs, and dropped by this stage.
bool SteppedLine::is_poison_of(StageNumber stage, std::uint64_t sample) const {
  const auto& inputs = shape_of(stage).queues[0].inputs;
  return !inputs.empty() && control_.stages[stage].quarantine.contains(sample) &&
         std::none_of(inputs.begin(), inputs.end(),
                      [&](StageNumber input) { return must_be_empty(input, sample); });
}

bool SteppedLine::must_be_empty(StageNumber stage, std::uint64_t slot) const {
  const std::uint64_t sample = slot / shape_of(stage).fan_out;
  if (control_.stages[stage].quarantine.contains(sample)) return true;
  const auto& inputs = shape_of(stage).queues[0].inputs;
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](StageNumber input) { return must_be_empty(input, sample); }) ||
         (inputs.empty() && is_empty(sample));
}

void SteppedLine::check_audit(StageNumber writer, StageNumber reader, std::uint64_t end) {
  std::uint64_t full = 0;
  for (std::uint64_t sample = 0; sample < end; ++sample) {
    const SlotState state = stages_[writer].committed_state[sample];
    full += state == SlotState::full;
    if (must_be_empty(writer, sample) == (state == SlotState::full)) {
      fibers_->fail(concat("sample ", sample, " of stage ", writer.value(), " has a wrong state"));
    }
  }
  const EdgeAudit edge = audit_edge(control_, writer, reader, 0);
  if (edge.produced == full && edge.leaked == 0 && edge.dropped == 0 &&
      edge.delivered + edge.quarantined == full) {
    return;
  }
  fibers_->fail(concat("the audit from stage ", writer.value(), " to ", reader.value(), ": full ",
                       full, ", produced ", edge.produced, ", delivered ", edge.delivered,
                       ", quarantined ", edge.quarantined, ", dropped ", edge.dropped, ", leaked ",
                       edge.leaked));
}

}  // namespace brigade::stepping
