#include "tests/transports/stepping/stepped_merge.h"

#include <algorithm>

#include "base/text.h"

namespace brigade::stepping {

SteppedMerge::SteppedMerge(const MergeScenario& scenario)
    : scenario_(scenario), shape_(shape_of(scenario)), memory_(control_bytes<P>(shape_)) {}

GraphShape SteppedMerge::shape_of(const MergeScenario& scenario) {
  std::vector<support::StageSpec> specs;
  for (int s = 0; s < scenario.sources; ++s) specs.push_back({1, 1, scenario.input_rows, {}, true});
  specs.push_back({1, 1, scenario.output_rows, {}, true});
  specs.push_back({1, scenario.batch, 0, {scenario.sources}, true});
  GraphShape shape = support::line_shape(specs);
  shape.domains = scenario.sources + 1;
  for (int s = 0; s < scenario.sources; ++s) shape.stages[s].lanes[0].domain = s;
  StageShape& merge = shape.stages[scenario.sources];
  merge.source = false;
  merge.journal_ports = scenario.sources;
  merge.lanes[0].domain = scenario.sources;
  for (int s = 0; s < scenario.sources; ++s) {
    LaneShape lane = merge.lanes[0];
    lane.domain = s;
    lane.inputs = {s};
    lane.wake_every = 1;
    merge.lanes.push_back(lane);
  }
  shape.stages.back().lanes[0].domain = scenario.sources;
  shape.epoch_ends.assign(scenario.sources, 0);
  shape.epoch_ends.push_back(1);
  return shape;
}

void SteppedMerge::reset() {
  std::fill_n(memory_.data(), control_bytes<P>(shape_), std::byte{0});
  control_ = create_control<P>(memory_.data(), shape_);
  for (int s = 0; s < scenario_.sources; ++s)
    set_end(control_, s, scenario_.samples, scenario_.samples, 1);
  rows_.assign(scenario_.output_rows, {});
  seen_.clear();
  lows_.assign(static_cast<std::size_t>(scenario_.sources) + 1, 0);
  workers_.assign(shape_.stages.size(), nullptr);
  dead_ = false;
}

std::string SteppedMerge::run(Chooser& chooser) {
  SteppedPolicy::mistakes = {};
  Fibers::Limits limits;
  limits.detours = scenario_.detours;
  limits.deaths = scenario_.deaths;
  reset();
  Fibers fibers(chooser, limits, scenario_.store_buffers);
  fibers_ = &fibers;
  for (int s = 0; s < static_cast<int>(shape_.stages.size()); ++s) start(s);
  fibers.spawn("supervisor", [this] { supervisor(); });
  fibers.after_step = [this] { check_marks(); };
  fibers.observer = [](Fiber&, FaultPoint) {};
  fibers.on_death = [this](Fiber&) { dead_ = true; };
  fibers.other_state = [this] { return fingerprint(); };
  fibers.run();
  if (fibers.is_pruned()) return "";
  if (fibers.failure().empty()) check_the_end();
  if (!fibers.failure().empty()) trace_ = fibers.trace();
  return fibers.failure();
}

std::uint64_t SteppedMerge::fingerprint() const {
  std::uint64_t hash = dead_ ? 1 : 0;
  for (const Row& row : rows_) hash = mix(hash, mix(row.number, row.value));
  for (const std::uint64_t value : seen_) hash = mix(hash, value);
  return hash;
}

void SteppedMerge::start(int stage) {
  const auto body = [this, stage] {
    if (stage < merge()) return source(stage);
    return stage == merge() ? merger() : reader();
  };
  Fiber& fiber = fibers_->spawn(concat("stage ", stage), body);
  fiber.stage = stage;
  fiber.replica = 0;
  fiber.mortal = stage == merge();
  workers_[static_cast<std::size_t>(stage)] = &fiber;
}

void SteppedMerge::source(int stage) {
  Channel<P> channel(control_, stage, 0, 0);
  for (;;) {
    const auto claim = claim_or_wait<P>(
        bell(stage), stage, 0, [&] { return channel.try_claim(); }, [&] { channel.pay(); });
    if (claim.look == Look::ended) return;
    RowCounts counts;
    if (is_hole(claim.task)) ++counts.holes;
    channel.finish(claim.task, counts);
  }
}

/// What the runtime's loop of such a stage does, in one epoch.
void SteppedMerge::merger() {
  FreeLanes<P> lanes(control_, merge());
  const EpochList<P>& ends = control_.epoch_ends[static_cast<std::size_t>(merge())];
  while (ends.end(0) == kNever) {
    const auto claim = claim_or_wait<P>(
        bell(merge()), merge(), 0, [&] { return lanes.try_input(); }, [&] { lanes.pay(); },
        lanes.watched());
    if (claim.look == Look::claimed) {
      take(lanes, claim.task);
      continue;
    }
    const std::uint64_t batch = scenario_.batch;
    end_epoch(control_, merge(), 0, (lanes.output().low() + batch - 1) / batch * batch);
  }
  end_epoch(control_, merge(), 0, ends.end(0));  // a predecessor may have died in the middle
  while (lanes.output().low() < ends.end(0)) write(lanes, 0);
  lanes.pay();
}

void SteppedMerge::take(FreeLanes<P>& lanes, std::uint64_t sample) {
  RowCounts counts;
  if (is_hole(sample)) {
    ++counts.holes;
    return lanes.consume(sample, counts, {});
  }
  const std::uint64_t from = lanes.begin();
  std::uint64_t there = lanes.output().low() - from;
  if (scenario_.repeats_outputs) there = 0;
  for (std::uint64_t i = there; i < outputs_of(sample); ++i)
    write(lanes, value_of(lanes.port(), sample, i));
  lanes.consume(sample, counts, {});
}

std::uint64_t SteppedMerge::room(FreeLanes<P>& lanes) {
  const auto claim = claim_or_wait<P>(
      bell(merge()), merge(), 0, [&] { return lanes.try_output(); }, [&] { lanes.pay(); });
  if (claim.look == Look::ended) fibers_->fail("an output beyond the end");
  return claim.task;
}

void SteppedMerge::write(FreeLanes<P>& lanes, std::uint64_t value) {
  const std::uint64_t number = room(lanes);
  Row& row = rows_[number % rows_.size()];
  row = {kNever, 0};  // half written, should anybody look
  fibers_->step();
  row = {number, value};
  RowCounts counts;
  if (value == 0) ++counts.pads;
  lanes.publish(number, counts, {});
}

void SteppedMerge::reader() {
  const int stage = merge() + 1;
  Channel<P> channel(control_, stage, 0, 0);
  for (;;) {
    const auto claim = claim_or_wait<P>(
        bell(stage), stage, 0, [&] { return channel.try_claim(); }, [&] { channel.pay(); });
    if (claim.look == Look::ended) return;
    RowCounts counts;
    for (std::uint64_t i = 0; i < scenario_.batch; ++i) {
      const std::uint64_t number = claim.task * scenario_.batch + i;
      fibers_->step();
      const Row& row = rows_[number % rows_.size()];
      if (row.number != number) fibers_->fail(concat("row ", number, " is not there"));
      if (row.value == 0) ++counts.pads;
      seen_.push_back(row.value);
    }
    channel.finish(claim.task, counts);
  }
}

void SteppedMerge::supervisor() {
  for (;;) {
    fibers_->wait_until([this] {
      return dead_ || std::all_of(workers_.begin(), workers_.end(), [](const Fiber* fiber) {
               return fiber->state == Fiber::State::finished;
             });
    });
    if (!dead_) return;
    repair(control_, merge(), 0, {}, scenario_.rules);
    dead_ = false;
    start(merge());
  }
}

void SteppedMerge::check_marks() {
  const auto& lanes = control_.stages[static_cast<std::size_t>(merge())].lanes;
  for (std::size_t l = 0; l < lanes.size(); ++l) {
    const std::uint64_t low = lanes[l].mark->low.value.raw();
    if (low < lows_[l]) fibers_->fail(concat("the mark of lane ", l, " went down"));
    lows_[l] = low;
  }
}

void SteppedMerge::check_the_end() {
  check_marks();
  std::uint64_t full = 0;
  std::vector<std::vector<std::uint64_t>> expected(static_cast<std::size_t>(scenario_.sources));
  std::uint64_t holes = 0;
  for (std::uint64_t sample = 0; sample < scenario_.samples; ++sample) {
    if (is_hole(sample)) ++holes;
    for (int s = 0; s < scenario_.sources; ++s)
      for (std::uint64_t i = 0; !is_hole(sample) && i < outputs_of(sample); ++i)
        expected[static_cast<std::size_t>(s)].push_back(value_of(s, sample, i));
  }
  std::vector<std::vector<std::uint64_t>> got(expected.size());
  for (const std::uint64_t value : seen_) {
    if (value == 0) continue;
    got[value / 1000 - 1].push_back(value);
    ++full;
  }
  if (got != expected) fibers_->fail("outputs were lost, repeated or mixed up");
  if (seen_.size() != (full + scenario_.batch - 1) / scenario_.batch * scenario_.batch)
    fibers_->fail(concat(seen_.size(), " rows for ", full, " outputs"));
  for (int s = 0; s < scenario_.sources; ++s) {
    const EdgeAudit books = audit_edge(control_, s, merge(), 1 + s);
    if (books.leaked != 0 || books.dropped != 0 || books.delivered != scenario_.samples - holes)
      fibers_->fail(concat("the books of source ", s, ": delivered ", books.delivered, ", dropped ",
                           books.dropped, ", leaked ", books.leaked));
  }
  const EdgeAudit books = audit_edge(control_, merge(), merge() + 1, 0);
  if (books.produced != full || books.delivered != full || books.leaked != 0)
    fibers_->fail(concat("the books of the outputs: produced ", books.produced, " of ", full));
}

}  // namespace brigade::stepping
