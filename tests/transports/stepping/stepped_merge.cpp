#include "tests/transports/stepping/stepped_merge.h"

#include <algorithm>

#include <brigade/text.h>
#include "tests/support/planned_shape.h"

namespace brigade::stepping {
namespace {

constexpr std::uint64_t kOutputsMost = 2;

}  // namespace

SteppedMerge::SteppedMerge(const MergeScenario& scenario)
    : SteppedRun(scenario, line_of(scenario)), scenario_(scenario) {}

SharedShape SteppedMerge::line_of(const MergeScenario& scenario) {
  GraphBuilder graph;
  graph.graph().epochs = scenario.samples[0].size();
  std::vector<std::string> sources;
  for (std::size_t s = 0; s < scenario.samples.size(); ++s) {
    sources.push_back(concat("source", s));
    graph.producer(sources.back(), {support::kPlannedNumber}).chunk = scenario.input_multiple;
    graph.type_of(sources.back()).indexed = !scenario.streams;
  }
  ValidStage& free = graph.transform("free", sources, {support::kPlannedNumber},
                                     sources.size() > 1 ? Join::merge : Join::single);
  free.outputs_per_input = kOutputsMost;
  graph.type_of("free").contract.numbering = Numbering::flat_map;
  ByStage<std::uint64_t> slots(sources.size(), scenario.slot_io);
  slots.push_back(scenario.output_slots);
  for (int r = 0; r < scenario.readers; ++r) {
    ValidStage& reader = graph.consumer(concat("reader", r), {"free"});
    reader.batched = true;
    reader.sources[0].batch = scenario.batch;
    slots.push_back(0);
  }
  return support::planned_shape(graph, slots);
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
    set_end(control_, IndexSpaceNumber(s), scenario_.samples[static_cast<std::size_t>(s)][0],
            begin_of(s, 1), epochs());
  inputs_.clear();
  for (int s = 0; s < merge(); ++s) inputs_.emplace_back(begin_of(s, epochs()), SlotState::pad);
  slots_.assign(scenario_.output_slots, {});
  seen_.assign(static_cast<std::size_t>(scenario_.readers), {});
  told_.assign(epochs(), 0);
}

std::uint64_t SteppedMerge::own_state() const {
  std::uint64_t hash = 0;
  for (const auto& inputs : inputs_)
    for (const SlotState state : inputs) hash = mix(hash, static_cast<std::uint64_t>(state));
  for (const Slot& slot : slots_) hash = mix(hash, mix(slot.number, mix(slot.value, slot.epoch)));
  for (const auto& seen : seen_)
    for (const Slot& slot : seen) hash = mix(hash, mix(slot.value, slot.epoch));
  for (const int told : told_) hash = mix(hash, static_cast<std::uint64_t>(told));
  return hash;
}

void SteppedMerge::live(StageNumber stage, int) {
  if (stage.value() < merge()) return source(stage.value());
  if (stage.value() > merge()) return reader(stage.value() - merge() - 1);
  Body work{this};
  ByQueue<std::uint64_t> multiples(scenario_.samples.size() + 1, scenario_.input_multiple);
  multiples[0] = scenario_.batch;
  FlatMapRun<P, Body> free(control_, stage, multiples, 0, work);
  if (!free.run().ok()) fibers_->fail("an error");
}

void SteppedMerge::source(int stage) {
  const StageNumber number(stage);
  Channel<P> channel(control_, number, 0, 0);
  const auto& inputs = inputs_[static_cast<std::size_t>(stage)];
  const std::uint64_t from = level(number, 0);
  StreamEnds<P> ends(control_, number, scenario_.input_multiple,
                     from > 0 && inputs[from - 1] == SlotState::pad);
  for (;;) {
    const auto claim = this->claim(channel, number, 0);
    if (claim.look == Look::ended) return;
    const std::uint64_t first = claim.task * channel.task_size();
    if (scenario_.streams && !ends.enter(first)) continue;
    SlotCounts counts;
    bool whole = true;
    for (std::uint64_t n = first; n < first + channel.task_size() && whole; ++n) {
      whole = !scenario_.streams || goes_on(stage, ends, n) || n > first || ends.is_padding(n);
      if (!whole) break;
      SlotState& state = inputs_[static_cast<std::size_t>(stage)][n];
      state = scenario_.streams && ends.is_padding(n) ? SlotState::pad : state_of(stage, n);
      if (state == SlotState::pad) ++counts.pads;
      if (state == SlotState::empty) ++counts.empty_slots;
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

Result<FlatMapInput> SteppedMerge::Body::look(int port, std::uint64_t number) {
  sample = number;
  written = 0;
  FlatMapInput input;
  const SlotState state = line->inputs_[static_cast<std::size_t>(port)][number];
  if (state == SlotState::pad) ++input.not_full.pads;
  if (state == SlotState::empty) ++input.not_full.empty_slots;
  if (state == SlotState::full) input.outputs = outputs_of(number);
  return input;
}

void SteppedMerge::Body::write(int port, std::uint64_t i, std::uint64_t number,
                               std::uint64_t epoch) {
  if (epoch != line->epoch_of(port, sample))
    line->fibers_->fail(concat("sample ", sample, " of source ", port, ", of epoch ",
                               line->epoch_of(port, sample), ", was given in epoch ", epoch));
  const std::uint64_t output = line->scenario_.repeats_outputs ? written++ : i;
  line->write_slot({number, value_of(port, sample, output), epoch});
}

Result<void> SteppedMerge::Body::tell(std::uint64_t epoch) {
  ++line->told_[epoch];
  return {};
}

void SteppedMerge::write_slot(const Slot& slot) {
  Slot& shared = slots_[slot.number % slots_.size()];
  shared = {kNever, 0, 0};  // half written, should anybody look
  fibers_->step();
  shared = slot;
}

void SteppedMerge::reader(int reader) {
  const StageNumber stage(merge() + 1 + reader);
  Channel<P> channel(control_, stage, 0, 0);
  for (;;) {
    const auto claim = this->claim(channel, stage, 0);
    if (claim.look == Look::ended) return;
    SlotCounts counts;
    for (std::uint64_t i = 0; i < scenario_.batch; ++i) {
      const std::uint64_t number = claim.task * scenario_.batch + i;
      fibers_->step();
      const Slot& slot = slots_[number % slots_.size()];
      if (slot.number != number) fibers_->fail(concat("slot ", number, " is not there"));
      if (slot.value == 0) ++counts.pads;
      seen_[static_cast<std::size_t>(reader)].push_back(slot);
    }
    channel.finish(claim.task, counts);
  }
}

/// Unless a stop comes before it.
SlotState SteppedMerge::state_of(int source, std::uint64_t number) const {
  if (is_padding(source, number)) return SlotState::pad;
  return is_empty(number) ? SlotState::empty : SlotState::full;
}

/// The values of an epoch of a source, in their order, as far as they were consumed.
std::vector<std::uint64_t> SteppedMerge::expected(std::uint64_t epoch, int source) const {
  const auto& inputs = inputs_[static_cast<std::size_t>(source)];
  const std::uint64_t end =
      std::min(begin_of(source, epoch + 1), level(StageNumber(merge()), input_queue(source)));
  std::vector<std::uint64_t> values;
  for (std::uint64_t n = begin_of(source, epoch); n < end; ++n)
    for (std::uint64_t i = 0; inputs[n] == SlotState::full && i < outputs_of(n); ++i)
      values.push_back(value_of(source, n, i));
  return values;
}

void SteppedMerge::check_the_end() {
  for (std::uint64_t epoch = 0; epoch < epochs(); ++epoch)
    if ((told_[epoch] < 1 && !events_.stop) || told_[epoch] > 1 + scenario_.deaths)
      fibers_->fail(concat("the end of epoch ", epoch, " was told ", told_[epoch], " times"));
  for (int r = 0; r < scenario_.readers; ++r) check_reader(r);
  for (int s = 0; s < merge(); ++s) check_input(s);
}

void SteppedMerge::check_reader(int reader) {
  const std::uint64_t batch = scenario_.batch;
  const std::vector<Slot>& seen = seen_[static_cast<std::size_t>(reader)];
  std::uint64_t full = 0;
  std::size_t slot = 0;
  for (std::uint64_t epoch = 0; epoch < epochs(); ++epoch) {
    std::vector<std::vector<std::uint64_t>> got(scenario_.samples.size());
    std::uint64_t count = 0;
    const std::size_t first = slot;
    for (; slot < seen.size() && seen[slot].epoch == epoch; ++slot) {
      if (seen[slot].value == 0) continue;
      got[seen[slot].value / 1000 - 1].push_back(seen[slot].value);
      ++count;
    }
    for (int s = 0; s < merge(); ++s)
      if (got[static_cast<std::size_t>(s)] != expected(epoch, s))
        fibers_->fail("outputs were lost, repeated or mixed up");
    if (slot - first != (count + batch - 1) / batch * batch)
      fibers_->fail(concat(slot - first, " slots for ", count, " outputs of epoch ", epoch));
    full += count;
  }
  if (slot != seen.size()) fibers_->fail("epochs came in another order");
  const EdgeAudit edge =
      audit_edge(control_, StageNumber(merge()), StageNumber(merge() + 1 + reader), 0);
  if (edge.produced != full || edge.delivered != full || edge.leaked != 0)
    fibers_->fail(concat("the audit of the outputs: produced ", edge.produced, " of ", full));
}

void SteppedMerge::check_input(int source) {
  const auto& inputs = inputs_[static_cast<std::size_t>(source)];
  const std::uint64_t end = control_.index_spaces[IndexSpaceNumber(source)]->end.value.raw();
  if (level(StageNumber(merge()), input_queue(source)) != end ||
      (!events_.stop && end != inputs.size()))
    fibers_->fail(concat("source ", source, " was consumed up to ",
                         level(StageNumber(merge()), input_queue(source))));
  std::uint64_t full = 0;
  for (std::uint64_t n = 0; n < end; ++n) {
    full += inputs[n] == SlotState::full ? 1 : 0;
    if (!events_.stop && inputs[n] != state_of(source, n))
      fibers_->fail(concat("sample ", n, " of source ", source, " has a wrong state"));
  }
  const EdgeAudit edge =
      audit_edge(control_, StageNumber(source), StageNumber(merge()), input_queue(source));
  if (edge.leaked != 0 || edge.dropped != 0 || edge.delivered != full)
    fibers_->fail(concat("the audit of source ", source, ": delivered ", edge.delivered, " of ",
                         full, ", dropped ", edge.dropped, ", leaked ", edge.leaked));
}

}  // namespace brigade::stepping
