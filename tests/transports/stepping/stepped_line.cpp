#include "tests/transports/stepping/stepped_line.h"

#include <algorithm>

#include "base/text.h"

namespace brigade::stepping {

using support::expected_value;
using support::next_value;

SteppedLine::SteppedLine(const Scenario& scenario)
    : scenario_(scenario),
      shape_(support::line_shape(scenario.stages)),
      multiple_(support::line_multiple(shape_)),
      memory_(control_bytes<P>(shape_)) {}

void SteppedLine::reset() {
  std::fill_n(memory_.data(), control_bytes<P>(shape_), std::byte{0});
  control_ = create_control<P>(memory_.data(), shape_, scenario_.wake_order);
  set_end(control_, 0, scenario_.samples, scenario_.samples, 1);
  stages_.assign(shape_.stages.size(), {});
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    const StageShape& stage = shape_.stages[s];
    stages_[s].rows.resize(stage.rows);
    const std::uint64_t samples = samples_of(static_cast<int>(s));
    stages_[s].commits.resize(samples / stage.lanes[0].task);
    stages_[s].committed_state.resize(samples * stage.fan_out);
  }
  workers_.assign(static_cast<std::size_t>(shape_.replicas), nullptr);
  dead_.clear();
}

std::string SteppedLine::run(Chooser& chooser) {
  SteppedPolicy::mistakes = scenario_.mistakes;
  Fibers::Limits limits;
  limits.detours = scenario_.detours;
  limits.deaths = scenario_.victim_stage < 0 ? 0 : scenario_.deaths;
  reset();
  Fibers fibers(chooser, limits, scenario_.store_buffers);
  fibers_ = &fibers;
  for (int s = 0; s < static_cast<int>(shape_.stages.size()); ++s) {
    for (int r = 0; r < shape_of(s).replicas; ++r) start_worker(s, r);
  }
  fibers.spawn("supervisor", [this] { supervisor(); });
  fibers.after_step = [this] { check_marks(); };
  fibers.observer = [this](Fiber& fiber, FaultPoint point) {
    if (point == FaultPoint::finish_after_done) note_commit(fiber);
  };
  fibers.on_death = [this](Fiber& fiber) {
    dead_.push_back(shape_of(fiber.stage).first_replica + fiber.replica);
  };
  fibers.other_state = [this] { return fingerprint(); };
  fibers.run();
  if (fibers.is_pruned()) return "";
  if (fibers.failure().empty()) check_the_end();
  if (!fibers.failure().empty()) trace_ = fibers.trace();
  return fibers.failure();
}

std::uint64_t SteppedLine::fingerprint() const {
  std::uint64_t hash = dead_.size();
  for (const StageState& stage : stages_) {
    for (const Row& row : stage.rows) {
      hash = mix(hash, mix(row.number, mix(row.value, static_cast<std::uint64_t>(row.state))));
    }
    for (int commits : stage.commits) hash = mix(hash, static_cast<std::uint64_t>(commits));
    for (RowState state : stage.committed_state)
      hash = mix(hash, static_cast<std::uint64_t>(state));
  }
  return hash;
}

void SteppedLine::start_worker(int stage, int replica) {
  const int global = shape_of(stage).first_replica + replica;
  Fiber& fiber = fibers_->spawn(concat("stage ", stage, " replica ", replica),
                                [this, stage, replica] { worker(stage, replica); });
  fiber.stage = stage;
  fiber.replica = replica;
  fiber.mortal = stage == scenario_.victim_stage && replica == 0;
  workers_[static_cast<std::size_t>(global)] = &fiber;
}

void SteppedLine::worker(int stage, int replica) {
  const int global = shape_of(stage).first_replica + replica;
  Channel<P> channel(control_, stage, 0, replica);
  for (;;) {
    const auto claim = claim_or_wait<P>(control_, global, 0, [&] { return channel.try_claim(); });
    if (claim.look == Look::ended) return;
    fibers_->current().task = claim.task;
    const RowCounts counts = work(stage, replica, claim.task);
    channel.finish(claim.task, counts);
  }
}

RowCounts SteppedLine::work(int stage, int replica, std::uint64_t task) {
  StageState& state = stages_[static_cast<std::size_t>(stage)];
  auto& at = control_.replicas[shape_of(stage).first_replica + replica].at.value;
  const std::uint64_t size = shape_of(stage).lanes[0].task;
  const std::uint64_t fan_out = shape_of(stage).fan_out;
  RowCounts counts;
  if (scenario_.waits_for_below && shape_of(stage).source)
    fibers_->wait_until([this, task, size] { return is_done_below(task * size); });
  for (std::uint64_t sample = task * size; sample < (task + 1) * size; ++sample) {
    Row row = make_row(stage, sample);
    // Only a sample that the stage is called with is "in hand".
    at.store(row.state == RowState::full ? sample : kNever, std::memory_order_relaxed);
    if (row.state != RowState::full)
      ++(is_poison_of(stage, sample) ? counts.quarantined : counts.holes);
    if (state.rows.empty()) continue;
    for (std::uint64_t i = 0; i < fan_out; ++i) {
      Row& shared = state.rows[(sample * fan_out + i) % state.rows.size()];
      shared = {kNever, 0, RowState::pad};  // half written, should anybody look
      fibers_->step();
      row.number = sample * fan_out + i;
      shared = row;
      ++row.value;
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
  for (int s = 0; s < static_cast<int>(stages_.size()); ++s) {
    if (shape_of(s).source) continue;
    const auto& commits = stages_[static_cast<std::size_t>(s)].commits;
    const std::uint64_t tasks = sample * support::lane_scale(shape_, s) / shape_of(s).lanes[0].task;
    if (std::find(commits.begin(), commits.begin() + static_cast<std::ptrdiff_t>(tasks), 0) !=
        commits.begin() + static_cast<std::ptrdiff_t>(tasks))
      return false;
  }
  return true;
}

SteppedLine::Row SteppedLine::make_row(int stage, std::uint64_t sample) {
  const auto& inputs = shape_of(stage).lanes[0].inputs;
  Row row{sample, inputs.empty() ? sample : 0, RowState::full};
  if (inputs.empty() && is_hole(sample)) row.state = RowState::hole;
  check_input(stage, sample);
  for (int input : inputs) {
    const auto& rows = stages_[static_cast<std::size_t>(input)].rows;
    row.value += rows[sample % rows.size()].value;
    if (rows[sample % rows.size()].state != RowState::full) row.state = RowState::hole;
  }
  const auto& quarantine = control_.stages[static_cast<std::size_t>(stage)].quarantine;
  if (!quarantine.empty() && quarantine.contains(sample)) row.state = RowState::hole;
  row.value = next_value(stage, row.value);
  return row;
}

void SteppedLine::check_input(int stage, std::uint64_t sample) {
  for (int input : shape_of(stage).lanes[0].inputs) {
    const StageState& state = stages_[static_cast<std::size_t>(input)];
    const Row& row = state.rows[sample % state.rows.size()];
    if (row.number != sample || row.value != expected_value(shape_, input, sample) ||
        row.state != state.committed_state[sample]) {
      fibers_->fail(concat("stage ", stage, " read something else as sample ", sample));
    }
  }
}

// --- the supervisor ------------------------------------------------------------------------------

bool SteppedLine::workers_have_left() const {
  return dead_.empty() && std::all_of(workers_.begin(), workers_.end(), [](const Fiber* fiber) {
           return fiber->state == Fiber::State::finished;
         });
}

void SteppedLine::supervisor() {
  if (scenario_.stop) stop_the_sources();
  for (;;) {
    fibers_->wait_until([this] { return !dead_.empty() || workers_have_left(); });
    if (dead_.empty()) return;
    repair_the_dead();
  }
}

void SteppedLine::repair_the_dead() {
  while (!dead_.empty()) {
    const int global = dead_.back();
    const int stage = scenario_.victim_stage;
    std::vector<std::uint64_t> poisoned;
    const std::uint64_t at = control_.replicas[global].at.value.raw();
    if (scenario_.poison && at != kNever) poisoned.push_back(at);
    const int replica = global - shape_of(stage).first_replica;
    repair(control_, stage, replica, poisoned, scenario_.rules);
    dead_.pop_back();
    if (scenario_.restart) start_worker(stage, replica);
  }
}

bool SteppedLine::repaired_for_good(int replica) const {
  return !scenario_.restart && std::find(dead_.begin(), dead_.end(), replica) == dead_.end();
}

void SteppedLine::stop_the_sources() {
  ask_stop(control_);
  const auto gone = [this](int replica) {
    const Fiber& fiber = *workers_[static_cast<std::size_t>(replica)];
    return fiber.state == Fiber::State::finished && (!fiber.died || repaired_for_good(replica));
  };
  const auto settled = [&] {
    for (int s = 0; s < static_cast<int>(shape_.stages.size()); ++s) {
      for (int r = 0; shape_of(s).source && r < shape_of(s).replicas; ++r) {
        const int global = shape_of(s).first_replica + r;
        if (control_.replicas[global].ack.value.raw() == 0 && !gone(global)) return false;
      }
    }
    return true;
  };
  while (!all_acknowledged(control_, gone)) {
    fibers_->wait_until([&] { return !dead_.empty() || settled(); });
    repair_the_dead();
  }
  lower_end(control_, 0, multiple_);
}

// --- what must hold ------------------------------------------------------------------------------

void SteppedLine::note_commit(const Fiber& fiber) {
  StageState& state = stages_[static_cast<std::size_t>(fiber.stage)];
  const std::uint64_t size = shape_of(fiber.stage).lanes[0].task;
  if (++state.commits[fiber.task] != 1) {
    fibers_->fail(concat("task ", fiber.task, " of stage ", fiber.stage, " committed twice"));
  }
  const std::uint64_t rows = size * shape_of(fiber.stage).fan_out;
  for (std::uint64_t number = fiber.task * rows; number < (fiber.task + 1) * rows; ++number) {
    if (state.rows.empty()) continue;
    const Row& row = state.rows[number % state.rows.size()];
    state.committed_state[number] = row.state;
    if (row.number == number && row.value == expected_value(shape_, fiber.stage, number)) continue;
    fibers_->fail(concat("row ", number, " of stage ", fiber.stage, " committed half written"));
  }
}

void SteppedLine::check_marks() {
  for (int s = 0; s < static_cast<int>(stages_.size()); ++s) {
    StageState& state = stages_[static_cast<std::size_t>(s)];
    const std::uint64_t low = lane(s).mark->low.value.raw();
    if (low == state.low) continue;
    if (low < state.low) fibers_->fail(concat("the mark of stage ", s, " went down"));
    const std::uint64_t size = shape_of(s).lanes[0].task;
    for (std::uint64_t task = state.low / size; task < low / size; ++task) {
      if (task >= state.commits.size() || state.commits[task] != 1) {
        fibers_->fail(concat("the mark of stage ", s, " passed task ", task, ", not committed"));
      }
    }
    state.low = low;
  }
}

void SteppedLine::check_the_end() {
  check_marks();
  const std::uint64_t end = control_.domains[0]->end.value.raw();
  if (end > scenario_.samples || end % multiple_ != 0) fibers_->fail("a wrong end");
  if (!scenario_.stop && end != scenario_.samples) fibers_->fail("the end has moved");
  for (int s = 0; s < static_cast<int>(stages_.size()); ++s) {
    const std::uint64_t low = stages_[static_cast<std::size_t>(s)].low;
    const std::uint64_t own_end = end * support::lane_scale(shape_, s);
    if (low != own_end) fibers_->fail(concat("stage ", s, " stopped at ", low, " of ", own_end));
    if (lane(s).mark->waiters.bits[0].raw() != 0) {
      fibers_->fail(concat("waiter bits were left on the mark of stage ", s));
    }
    for (int input : shape_of(s).lanes[0].inputs) check_books(input, s, own_end);
  }
}

// FULL in its inputs, and left out by this stage.
bool SteppedLine::is_poison_of(int stage, std::uint64_t sample) const {
  const auto& inputs = shape_of(stage).lanes[0].inputs;
  return !inputs.empty() &&
         control_.stages[static_cast<std::size_t>(stage)].quarantine.contains(sample) &&
         std::none_of(inputs.begin(), inputs.end(),
                      [&](int input) { return must_be_hole(input, sample); });
}

bool SteppedLine::must_be_hole(int stage, std::uint64_t row) const {
  const std::uint64_t sample = row / shape_of(stage).fan_out;
  if (control_.stages[static_cast<std::size_t>(stage)].quarantine.contains(sample)) return true;
  const auto& inputs = shape_of(stage).lanes[0].inputs;
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](int input) { return must_be_hole(input, sample); }) ||
         (inputs.empty() && is_hole(sample));
}

void SteppedLine::check_books(int writer, int reader, std::uint64_t end) {
  std::uint64_t full = 0;
  for (std::uint64_t sample = 0; sample < end; ++sample) {
    const RowState state = stages_[static_cast<std::size_t>(writer)].committed_state[sample];
    full += state == RowState::full;
    if (must_be_hole(writer, sample) == (state == RowState::full)) {
      fibers_->fail(concat("sample ", sample, " of stage ", writer, " has a wrong state"));
    }
  }
  const EdgeAudit books = audit_edge(control_, writer, reader, 0);
  if (books.produced == full && books.leaked == 0 && books.dropped == 0 &&
      books.delivered + books.quarantined == full) {
    return;
  }
  fibers_->fail(concat("the books from stage ", writer, " to ", reader, ": full ", full,
                       ", produced ", books.produced, ", delivered ", books.delivered,
                       ", quarantined ", books.quarantined, ", dropped ", books.dropped,
                       ", leaked ", books.leaked));
}

}  // namespace brigade::stepping
