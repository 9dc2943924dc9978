#include "tests/transports/stepping/stepped_turns.h"

#include <algorithm>

#include "base/text.h"

namespace brigade::stepping {

SteppedTurns::SteppedTurns(const TurnsScenario& scenario)
    : scenario_(scenario), shape_(shape_of(scenario)), memory_(control_bytes<P>(shape_)) {}

GraphShape SteppedTurns::shape_of(const TurnsScenario& scenario) {
  const int streams = static_cast<int>(scenario.samples.size());
  std::vector<support::StageSpec> specs(scenario.samples.size(), {1, 1, scenario.rows, {}, true});
  specs.push_back({scenario.readers, scenario.batch, 0, {0}, scenario.readers == 1});
  GraphShape shape = support::line_shape(specs);
  shape.domains = streams;
  StageShape& reader = shape.stages.back();
  reader.turns = Turns::epochs;
  const LaneShape like = reader.lanes[0];
  reader.lanes.assign(scenario.samples.size(), like);
  for (int s = 0; s < streams; ++s) {
    const auto stream = static_cast<std::size_t>(s);
    shape.stages[stream].lanes[0].domain = s;
    shape.stages[stream].lanes[0].wake_every = scenario.batch;
    reader.lanes[stream].domain = s;
    reader.lanes[stream].inputs = {s};
    shape.epoch_ends.push_back(scenario.samples[stream].size());
  }
  return shape;
}

std::uint64_t SteppedTurns::end_of(int stream, std::uint64_t epoch) const {
  std::uint64_t end = 0;
  for (std::uint64_t e = 0; e <= epoch; ++e)
    end = closed(end + scenario_.samples[static_cast<std::size_t>(stream)][e]);
  return end;
}

std::uint64_t SteppedTurns::epoch_of(int stream, std::uint64_t number) const {
  std::uint64_t epoch = 0;
  while (end_of(stream, epoch) <= number) ++epoch;
  return epoch;
}

void SteppedTurns::reset() {
  std::fill_n(memory_.data(), control_bytes<P>(shape_), std::byte{0});
  control_ = create_control<P>(memory_.data(), shape_);
  rows_.assign(scenario_.samples.size(), std::vector<Row>(scenario_.rows));
  committed_.clear();
  for (int s = 0; s < streams(); ++s)
    committed_.emplace_back(end_of(s, scenario_.samples[static_cast<std::size_t>(s)].size() - 1));
  lows_.assign(scenario_.samples.size(), 0);
  workers_.assign(static_cast<std::size_t>(shape_.replicas), nullptr);
  dead_ = false;
}

std::string SteppedTurns::run(Chooser& chooser) {
  SteppedPolicy::mistakes = {};
  Fibers::Limits limits;
  limits.detours = scenario_.detours;
  limits.deaths = scenario_.victim_stage < 0 ? 0 : scenario_.deaths;
  reset();
  Fibers fibers(chooser, limits, scenario_.store_buffers);
  fibers_ = &fibers;
  for (int s = 0; s <= reader(); ++s)
    for (int r = 0; r < shape_.stages[static_cast<std::size_t>(s)].replicas; ++r) start(s, r);
  fibers.spawn("supervisor", [this] { supervisor(); });
  fibers.after_step = [this] { check_marks(); };
  fibers.observer = [this](Fiber& fiber, FaultPoint point) {
    if (point == FaultPoint::finish_after_done && fiber.stage == reader()) note_commit(fiber);
  };
  fibers.on_death = [this](Fiber&) { dead_ = true; };
  fibers.other_state = [this] { return fingerprint(); };
  fibers.run();
  if (fibers.is_pruned()) return "";
  if (fibers.failure().empty()) check_the_end();
  if (!fibers.failure().empty()) trace_ = fibers.trace();
  return fibers.failure();
}

std::uint64_t SteppedTurns::fingerprint() const {
  std::uint64_t hash = dead_ ? 1 : 0;
  for (const auto& rows : rows_)
    for (const Row& row : rows)
      hash = mix(hash, mix(row.number, row.epoch << 1 | (row.padding ? 1 : 0)));
  for (const auto& commits : committed_)
    for (const int commit : commits) hash = mix(hash, static_cast<std::uint64_t>(commit));
  return hash;
}

void SteppedTurns::start(int stage, int replica) {
  Fiber& fiber =
      fibers_->spawn(concat("stage ", stage, " replica ", replica), [this, stage, replica] {
        if (stage == reader()) return read(replica);
        stream(stage);
      });
  fiber.stage = stage;
  fiber.replica = replica;
  fiber.mortal = stage == scenario_.victim_stage && replica == 0;
  workers_[static_cast<std::size_t>(shape_.stages[static_cast<std::size_t>(stage)].first_replica +
                                    replica)] = &fiber;
}

void SteppedTurns::stream(int stage) {
  const auto& samples = scenario_.samples[static_cast<std::size_t>(stage)];
  auto& rows = rows_[static_cast<std::size_t>(stage)];
  const EpochList<P>& ends = control_.epoch_ends[static_cast<std::size_t>(stage)];
  Channel<P> channel(control_, stage, 0, 0);
  for (;;) {
    const auto claim = claim_or_wait<P>(
        control_.bells[stage], stage, 0, [&] { return channel.try_claim(); },
        [&] { channel.pay(); });
    if (claim.look == Look::ended) return;
    const std::uint64_t number = claim.task;
    const std::uint64_t epoch = ends.count();
    const bool padding = epoch > 0 && number < ends.end(epoch - 1);
    if (!padding && epoch == samples.size()) {  // a predecessor died before it could say so
      end_epoch(control_, stage, epoch - 1, ends.end(epoch - 1));
      continue;
    }
    const std::uint64_t begin = epoch == 0 ? 0 : ends.end(epoch - 1);
    const std::uint64_t last = begin + samples[std::min<std::size_t>(epoch, samples.size() - 1)];
    const bool late =
        scenario_.records_late && epoch + 1 < samples.size() && samples[epoch + 1] > 0;
    if (!padding && number == last + (late ? 1 : 0)) {
      end_epoch(control_, stage, epoch, closed(last));
      continue;
    }
    Row& row = rows[number % rows.size()];
    row = {kNever, 0, false};  // half written, should anybody look
    fibers_->step();
    row = {number, epoch_of(stage, number), padding};
    RowCounts counts;
    if (padding) ++counts.pads;
    channel.finish(number, counts);
  }
}

void SteppedTurns::read(int replica) {
  const int global = shape_.stages.back().first_replica + replica;
  JoinedLanes<P> lanes(control_, reader(), replica);
  for (;;) {
    const auto claim = claim_or_wait<P>(
        control_.bells[global], global, 0, [&] { return lanes.try_claim(); }, [&] { lanes.pay(); },
        lanes.watched());
    if (claim.look == Look::ended) return;
    Fiber& fiber = fibers_->current();
    fiber.task = claim.task * static_cast<std::uint64_t>(streams()) +
                 static_cast<std::uint64_t>(lanes.lane());
    check_turn(lanes.lane(), claim.task * scenario_.batch);
    lanes.finish(claim.task, read_rows(lanes.lane(), claim.task * scenario_.batch), {});
  }
}

RowCounts SteppedTurns::read_rows(int lane, std::uint64_t first) {
  const auto& rows = rows_[static_cast<std::size_t>(lane)];
  RowCounts counts;
  for (std::uint64_t number = first; number < first + scenario_.batch; ++number) {
    fibers_->step();
    const Row& row = rows[number % rows.size()];
    if (row.number != number || row.epoch != epoch_of(lane, number))
      fibers_->fail(concat("row ", number, " of stream ", lane, " is not there"));
    if (row.padding) ++counts.pads;
  }
  return counts;
}

/// Every task of every turn before that of this one is done.
void SteppedTurns::check_turn(int lane, std::uint64_t first) {
  const std::uint64_t epoch = epoch_of(lane, first);
  for (int other = 0; other < streams(); ++other) {
    const auto& commits = committed_[static_cast<std::size_t>(other)];
    const std::uint64_t before = other < lane ? epoch + 1 : epoch;  // so many epochs
    const std::uint64_t end = before == 0 ? 0 : end_of(other, before - 1);
    for (std::uint64_t number = 0; number < end; ++number) {
      if (commits[number] != 0) continue;
      fibers_->fail(concat("sample ", first, " of stream ", lane, ", in epoch ", epoch,
                           ", came before ", number, " of stream ", other));
    }
  }
}

void SteppedTurns::note_commit(const Fiber& fiber) {
  const auto streams = static_cast<std::uint64_t>(this->streams());
  auto& commits = committed_[fiber.task % streams];
  const std::uint64_t first = fiber.task / streams * scenario_.batch;
  for (std::uint64_t number = first; number < first + scenario_.batch; ++number) {
    if (++commits[number] != 1) fibers_->fail(concat("sample ", number, " was read twice"));
  }
}

void SteppedTurns::supervisor() {
  const auto left = [this] {
    return std::all_of(workers_.begin(), workers_.end(),
                       [](const Fiber* fiber) { return fiber->state == Fiber::State::finished; });
  };
  for (;;) {
    fibers_->wait_until([&] { return dead_ || left(); });
    if (!dead_) return;
    repair(control_, scenario_.victim_stage, 0);
    dead_ = false;
    start(scenario_.victim_stage, 0);
  }
}

void SteppedTurns::check_marks() {
  for (int lane = 0; lane < streams(); ++lane) {
    std::uint64_t& before = lows_[static_cast<std::size_t>(lane)];
    const std::uint64_t low =
        control_.stages.back().lanes[static_cast<std::size_t>(lane)].mark->low.value.raw();
    if (low < before) fibers_->fail(concat("the mark of lane ", lane, " went down"));
    before = low;
  }
}

void SteppedTurns::check_the_end() {
  check_marks();
  for (int s = 0; s < streams(); ++s) {
    const auto& commits = committed_[static_cast<std::size_t>(s)];
    if (lows_[static_cast<std::size_t>(s)] != commits.size() ||
        std::count(commits.begin(), commits.end(), 1) != static_cast<long>(commits.size()))
      fibers_->fail(concat("samples of stream ", s, " were not read"));
    const auto& samples = scenario_.samples[static_cast<std::size_t>(s)];
    std::uint64_t full = 0;
    for (const std::uint64_t of_epoch : samples) full += of_epoch;
    const EdgeAudit books = audit_edge(control_, s, reader(), s);
    if (books.produced != full || books.delivered != full || books.leaked != 0)
      fibers_->fail(concat("the books of stream ", s, ": produced ", books.produced, ", delivered ",
                           books.delivered, " of ", full));
  }
}

}  // namespace brigade::stepping
