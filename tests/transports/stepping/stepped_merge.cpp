#include "tests/transports/stepping/stepped_merge.h"

#include <algorithm>

#include "base/text.h"
#include "tests/support/planned_shape.h"

namespace brigade::stepping {
namespace {

constexpr std::uint64_t kOutputsMost = 2;

}  // namespace

SteppedMerge::SteppedMerge(const MergeScenario& scenario)
    : SteppedRun(scenario, line_of(scenario)), scenario_(scenario) {}

GraphShape SteppedMerge::line_of(const MergeScenario& scenario) {
  GraphBuilder graph;
  graph.graph().epochs = scenario.samples[0].size();
  std::vector<std::string> sources;
  for (std::size_t s = 0; s < scenario.samples.size(); ++s) {
    sources.push_back(concat("source", s));
    graph.producer(sources.back(), {support::kPlannedNumber}).rows = scenario.input_multiple;
    graph.type_of(sources.back()).indexed = !scenario.streams;
  }
  ValidStage& free = graph.transform("free", sources, {support::kPlannedNumber},
                                     sources.size() > 1 ? Join::merge : Join::single);
  free.outputs_per_input = kOutputsMost;
  graph.type_of("free").contract.numbering = Numbering::free;
  ValidStage& reader = graph.consumer("reader", {"free"});
  reader.batched = true;
  reader.sources[0].batch = scenario.batch;
  std::vector<std::uint64_t> rows(sources.size(), scenario.input_rows);
  rows.push_back(scenario.output_rows);
  rows.push_back(0);
  return support::planned_shape(graph, rows);
}

std::uint64_t SteppedMerge::begin_of(int source, std::uint64_t epoch) const {
  const std::uint64_t multiple = scenario_.input_multiple;
  std::uint64_t begin = 0;
  for (std::uint64_t e = 0; e < epoch; ++e) {
    begin += scenario_.samples[static_cast<std::size_t>(source)][e];
    begin = (begin + multiple - 1) / multiple * multiple;
  }
  return begin;
}

std::uint64_t SteppedMerge::epoch_of(int source, std::uint64_t number) const {
  std::uint64_t epoch = 0;
  while (begin_of(source, epoch + 1) <= number) ++epoch;
  return epoch;
}

bool SteppedMerge::is_padding(int source, std::uint64_t number) const {
  const std::uint64_t epoch = epoch_of(source, number);
  return number - begin_of(source, epoch) >=
         scenario_.samples[static_cast<std::size_t>(source)][epoch];
}

void SteppedMerge::reset() {
  for (int s = 0; s < merge() && !scenario_.streams; ++s)
    set_end(control_, s, scenario_.samples[static_cast<std::size_t>(s)][0], begin_of(s, 1),
            epochs());
  inputs_.clear();
  for (int s = 0; s < merge(); ++s) inputs_.emplace_back(begin_of(s, epochs()), RowState::pad);
  rows_.assign(scenario_.output_rows, {});
  seen_.clear();
  told_.assign(epochs(), 0);
}

std::uint64_t SteppedMerge::own_state() const {
  std::uint64_t hash = 0;
  for (const auto& inputs : inputs_)
    for (const RowState state : inputs) hash = mix(hash, static_cast<std::uint64_t>(state));
  for (const Row& row : rows_) hash = mix(hash, mix(row.number, mix(row.value, row.epoch)));
  for (const Row& row : seen_) hash = mix(hash, mix(row.value, row.epoch));
  for (const int told : told_) hash = mix(hash, static_cast<std::uint64_t>(told));
  return hash;
}

void SteppedMerge::live(int stage, int) {
  if (stage < merge()) return source(stage);
  if (stage > merge()) return reader();
  Body work{this};
  std::vector<std::uint64_t> multiples(scenario_.samples.size() + 1, scenario_.input_multiple);
  multiples[0] = scenario_.batch;
  FreeRun<P, Body> free(control_, stage, multiples, 0, work);
  if (!free.run().ok()) fibers_->fail("an error");
}

void SteppedMerge::source(int stage) {
  Channel<P> channel(control_, stage, 0, 0);
  const auto& inputs = inputs_[static_cast<std::size_t>(stage)];
  const std::uint64_t from = low(stage, 0);
  StreamEnds<P> ends(control_, stage, scenario_.input_multiple,
                     from > 0 && inputs[from - 1] == RowState::pad);
  for (;;) {
    const auto claim = this->claim(channel, stage, 0);
    if (claim.look == Look::ended) return;
    const std::uint64_t first = claim.task * channel.task_size();
    if (scenario_.streams && !ends.enter(first)) continue;
    RowCounts counts;
    bool whole = true;
    for (std::uint64_t n = first; n < first + channel.task_size() && whole; ++n) {
      whole = !scenario_.streams || goes_on(stage, ends, n) || n > first || ends.is_padding(n);
      if (!whole) break;
      RowState& state = inputs_[static_cast<std::size_t>(stage)][n];
      state = scenario_.streams && ends.is_padding(n) ? RowState::pad : state_of(stage, n);
      if (state == RowState::pad) ++counts.pads;
      if (state == RowState::hole) ++counts.holes;
    }
    if (whole) channel.finish(claim.task, counts);
  }
}

/// False: a stream's epoch ends before this number; its end is recorded.
bool SteppedMerge::goes_on(int stage, StreamEnds<P>& ends, std::uint64_t number) {
  const bool late = scenario_.records_late && ends.epoch() + 1 < epochs();
  const std::uint64_t last = begin_of(stage, ends.epoch()) +
                             scenario_.samples[static_cast<std::size_t>(stage)][ends.epoch()];
  if (ends.is_padding(number) || number != last + (late ? 1 : 0)) return true;
  ends.end(last);
  return false;
}

Result<FreeInput> SteppedMerge::Body::look(int port, std::uint64_t number) {
  sample = number;
  written = 0;
  FreeInput input;
  const RowState state = line->inputs_[static_cast<std::size_t>(port)][number];
  if (state == RowState::pad) ++input.not_full.pads;
  if (state == RowState::hole) ++input.not_full.holes;
  if (state == RowState::full) input.outputs = outputs_of(number);
  return input;
}

void SteppedMerge::Body::write(int port, std::uint64_t i, std::uint64_t number,
                               std::uint64_t epoch) {
  if (epoch != line->epoch_of(port, sample))
    line->fibers_->fail(concat("sample ", sample, " of source ", port, ", of epoch ",
                               line->epoch_of(port, sample), ", was given in epoch ", epoch));
  const std::uint64_t output = line->scenario_.repeats_outputs ? written++ : i;
  line->write_row({number, value_of(port, sample, output), epoch});
}

Result<void> SteppedMerge::Body::tell(std::uint64_t epoch) {
  ++line->told_[epoch];
  return {};
}

void SteppedMerge::write_row(const Row& row) {
  Row& shared = rows_[row.number % rows_.size()];
  shared = {kNever, 0, 0};  // half written, should anybody look
  fibers_->step();
  shared = row;
}

void SteppedMerge::reader() {
  const int stage = merge() + 1;
  Channel<P> channel(control_, stage, 0, 0);
  for (;;) {
    const auto claim = this->claim(channel, stage, 0);
    if (claim.look == Look::ended) return;
    RowCounts counts;
    for (std::uint64_t i = 0; i < scenario_.batch; ++i) {
      const std::uint64_t number = claim.task * scenario_.batch + i;
      fibers_->step();
      const Row& row = rows_[number % rows_.size()];
      if (row.number != number) fibers_->fail(concat("row ", number, " is not there"));
      if (row.value == 0) ++counts.pads;
      seen_.push_back(row);
    }
    channel.finish(claim.task, counts);
  }
}

/// Unless a stop comes before it.
RowState SteppedMerge::state_of(int source, std::uint64_t number) const {
  if (is_padding(source, number)) return RowState::pad;
  return is_hole(number) ? RowState::hole : RowState::full;
}

/// The values of an epoch of a source, in their order, as far as they were consumed.
std::vector<std::uint64_t> SteppedMerge::expected(std::uint64_t epoch, int source) const {
  const auto& inputs = inputs_[static_cast<std::size_t>(source)];
  const std::uint64_t end = std::min(begin_of(source, epoch + 1), low(merge(), 1 + source));
  std::vector<std::uint64_t> values;
  for (std::uint64_t n = begin_of(source, epoch); n < end; ++n)
    for (std::uint64_t i = 0; inputs[n] == RowState::full && i < outputs_of(n); ++i)
      values.push_back(value_of(source, n, i));
  return values;
}

void SteppedMerge::check_the_end() {
  const std::uint64_t batch = scenario_.batch;
  std::uint64_t full = 0;
  std::size_t row = 0;
  for (std::uint64_t epoch = 0; epoch < epochs(); ++epoch) {
    std::vector<std::vector<std::uint64_t>> got(scenario_.samples.size());
    std::uint64_t count = 0;
    const std::size_t first = row;
    for (; row < seen_.size() && seen_[row].epoch == epoch; ++row) {
      if (seen_[row].value == 0) continue;
      got[seen_[row].value / 1000 - 1].push_back(seen_[row].value);
      ++count;
    }
    for (int s = 0; s < merge(); ++s)
      if (got[static_cast<std::size_t>(s)] != expected(epoch, s))
        fibers_->fail("outputs were lost, repeated or mixed up");
    if (row - first != (count + batch - 1) / batch * batch)
      fibers_->fail(concat(row - first, " rows for ", count, " outputs of epoch ", epoch));
    if ((told_[epoch] < 1 && !events_.stop) || told_[epoch] > 1 + scenario_.deaths)
      fibers_->fail(concat("the end of epoch ", epoch, " was told ", told_[epoch], " times"));
    full += count;
  }
  if (row != seen_.size()) fibers_->fail("epochs came in another order");
  for (int s = 0; s < merge(); ++s) check_input(s);
  const EdgeAudit books = audit_edge(control_, merge(), merge() + 1, 0);
  if (books.produced != full || books.delivered != full || books.leaked != 0)
    fibers_->fail(concat("the books of the outputs: produced ", books.produced, " of ", full));
}

void SteppedMerge::check_input(int source) {
  const auto& inputs = inputs_[static_cast<std::size_t>(source)];
  const std::uint64_t end = control_.domains[static_cast<std::size_t>(source)]->end.value.raw();
  if (low(merge(), 1 + source) != end || (!events_.stop && end != inputs.size()))
    fibers_->fail(concat("source ", source, " was consumed up to ", low(merge(), 1 + source)));
  std::uint64_t full = 0;
  for (std::uint64_t n = 0; n < end; ++n) {
    full += inputs[n] == RowState::full ? 1 : 0;
    if (!events_.stop && inputs[n] != state_of(source, n))
      fibers_->fail(concat("sample ", n, " of source ", source, " has a wrong state"));
  }
  const EdgeAudit books = audit_edge(control_, source, merge(), 1 + source);
  if (books.leaked != 0 || books.dropped != 0 || books.delivered != full)
    fibers_->fail(concat("the books of source ", source, ": delivered ", books.delivered, " of ",
                         full, ", dropped ", books.dropped, ", leaked ", books.leaked));
}

}  // namespace brigade::stepping
