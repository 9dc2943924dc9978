#include "tests/transports/stepping/stepped_turns.h"

#include <algorithm>

#include "base/text.h"
#include "tests/support/planned_shape.h"

namespace brigade::stepping {

SteppedTurns::SteppedTurns(const TurnsScenario& scenario)
    : SteppedRun(scenario, line_of(scenario)), scenario_(scenario) {}

GraphShape SteppedTurns::line_of(const TurnsScenario& scenario) {
  GraphBuilder graph;
  graph.graph().epochs = scenario.samples[0].size();
  std::vector<std::string> streams;
  for (std::size_t s = 0; s < scenario.samples.size(); ++s) {
    streams.push_back(concat("stream", s));
    graph.producer(streams.back(), {support::kPlannedNumber}).rows = 1;
    graph.type_of(streams.back()).indexed = false;
  }
  ValidStage& reader = graph.consumer("reader", streams, Join::epochs);
  reader.batched = true;
  reader.replicas = static_cast<std::uint64_t>(scenario.readers);
  for (ValidSource& source : reader.sources) source.batch = scenario.batch;
  std::vector<std::uint64_t> rows(streams.size(), scenario.rows);
  rows.push_back(0);
  return support::planned_shape(graph, rows);
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
  rows_.assign(scenario_.samples.size(), std::vector<Row>(scenario_.rows));
  committed_.clear();
  for (int s = 0; s < streams(); ++s)
    committed_.emplace_back(end_of(s, scenario_.samples[static_cast<std::size_t>(s)].size() - 1));
}

std::uint64_t SteppedTurns::own_state() const {
  std::uint64_t hash = 0;
  for (const auto& rows : rows_)
    for (const Row& row : rows)
      hash = mix(hash, mix(row.number, row.epoch << 1 | (row.padding ? 1 : 0)));
  for (const auto& commits : committed_)
    for (const int commit : commits) hash = mix(hash, static_cast<std::uint64_t>(commit));
  return hash;
}

void SteppedTurns::stream(int stage) {
  const auto& samples = scenario_.samples[static_cast<std::size_t>(stage)];
  auto& rows = rows_[static_cast<std::size_t>(stage)];
  Channel<P> channel(control_, stage, 0, 0);
  const std::uint64_t from = low(stage, 0);
  StreamEnds<P> ends(control_, stage, scenario_.batch,
                     from > 0 && rows[(from - 1) % rows.size()].padding);
  for (;;) {
    const auto claim = this->claim(channel, stage, 0);
    if (claim.look == Look::ended) return;
    const std::uint64_t number = claim.task;
    if (!ends.enter(number)) continue;
    const std::uint64_t epoch = ends.epoch();
    const bool late =
        scenario_.records_late && epoch + 1 < samples.size() && samples[epoch + 1] > 0;
    const std::uint64_t last = (epoch == 0 ? 0 : end_of(stage, epoch - 1)) + samples[epoch];
    if (!ends.is_padding(number) && number == last + (late ? 1 : 0)) {
      ends.end(last);
      continue;
    }
    const bool padding = ends.is_padding(number);
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
  JoinedLanes<P> lanes(control_, reader(), replica);
  for (;;) {
    const auto claim = this->claim(lanes, reader(), replica, lanes.watched());
    if (claim.look == Look::ended) return;
    Fiber& fiber = fibers_->current();
    fiber.task = claim.task * static_cast<std::uint64_t>(streams()) +
                 static_cast<std::uint64_t>(lanes.lane());
    check_turn(lanes.lane(), claim.task * scenario_.batch);
    lanes.finish(claim.task, read_rows(lanes.lane(), claim.task * scenario_.batch));
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

void SteppedTurns::passed(Fiber& fiber, FaultPoint point) {
  if (point != FaultPoint::finish_after_done || fiber.stage != reader()) return;
  const auto streams = static_cast<std::uint64_t>(this->streams());
  auto& commits = committed_[fiber.task % streams];
  const std::uint64_t first = fiber.task / streams * scenario_.batch;
  for (std::uint64_t number = first; number < first + scenario_.batch; ++number) {
    if (++commits[number] != 1) fibers_->fail(concat("sample ", number, " was read twice"));
  }
}

void SteppedTurns::check_the_end() {
  for (int s = 0; s < streams(); ++s) {
    const auto& commits = committed_[static_cast<std::size_t>(s)];
    if (low(reader(), s) != commits.size() ||
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
