#include "tests/transports/stepping/stepped_interleave.h"

#include <algorithm>

#include <brigade/text.h>
#include "tests/support/planned_shape.h"

namespace brigade::stepping {

SteppedInterleave::SteppedInterleave(const InterleaveScenario& scenario)
    : SteppedRun(scenario, line_of(scenario)), scenario_(scenario) {}

SharedShape SteppedInterleave::line_of(const InterleaveScenario& scenario) {
  GraphBuilder graph;
  graph.graph().epochs = scenario.samples[0].size();
  std::vector<std::string> streams;
  for (std::size_t s = 0; s < scenario.samples.size(); ++s) {
    streams.push_back(concat("stream", s));
    graph.producer(streams.back(), {support::kPlannedNumber}).chunk = 1;
    graph.type_of(streams.back()).indexed = false;
  }
  ValidStage& reader = graph.consumer("reader", streams, Join::epochs);
  reader.batched = true;
  reader.replicas = static_cast<std::uint64_t>(scenario.readers);
  for (ValidSource& source : reader.sources) source.batch = scenario.batch;
  ByStage<std::uint64_t> slots(streams.size(), scenario.slots);
  slots.push_back(0);
  return support::planned_shape(graph, slots);
}

std::uint64_t SteppedInterleave::end_of(int stream, std::uint64_t epoch) const {
  std::uint64_t end = 0;
  for (std::uint64_t e = 0; e <= epoch; ++e)
    end = closed(end + scenario_.samples[static_cast<std::size_t>(stream)][e]);
  return end;
}

std::uint64_t SteppedInterleave::epoch_of(int stream, std::uint64_t number) const {
  std::uint64_t epoch = 0;
  while (end_of(stream, epoch) <= number) ++epoch;
  return epoch;
}

void SteppedInterleave::reset() {
  slots_.assign(scenario_.samples.size(), std::vector<Slot>(scenario_.slots));
  committed_.clear();
  for (int s = 0; s < streams(); ++s)
    committed_.emplace_back(end_of(s, scenario_.samples[static_cast<std::size_t>(s)].size() - 1));
}

std::uint64_t SteppedInterleave::own_state() const {
  std::uint64_t hash = 0;
  for (const auto& slots : slots_)
    for (const Slot& slot : slots)
      hash = mix(hash, mix(slot.number, slot.epoch << 1 | (slot.padding ? 1 : 0)));
  for (const auto& commits : committed_)
    for (const int commit : commits) hash = mix(hash, static_cast<std::uint64_t>(commit));
  return hash;
}

void SteppedInterleave::stream(int stage) {
  const auto& samples = scenario_.samples[static_cast<std::size_t>(stage)];
  auto& slots = slots_[static_cast<std::size_t>(stage)];
  const StageNumber number_of_stage(stage);
  Channel<P> channel(control_, number_of_stage, 0, 0);
  const std::uint64_t from = level(number_of_stage, 0);
  StreamEnds<P> ends(control_, number_of_stage, scenario_.batch,
                     from > 0 && slots[(from - 1) % slots.size()].padding);
  for (;;) {
    const auto claim = this->claim(channel, number_of_stage, 0);
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
    Slot& slot = slots[number % slots.size()];
    slot = {kNever, 0, false};  // half written, should anybody look
    fibers_->step();
    slot = {number, epoch_of(stage, number), padding};
    SlotCounts counts;
    if (padding) ++counts.pads;
    channel.finish(number, counts);
  }
}

void SteppedInterleave::read(int replica) {
  JoinedQueues<P> queues(control_, reader(), replica);
  for (;;) {
    const auto claim = this->claim(queues, reader(), replica, queues.watched());
    if (claim.look == Look::ended) return;
    Fiber& fiber = fibers_->current();
    fiber.task = claim.task * static_cast<std::uint64_t>(streams()) +
                 static_cast<std::uint64_t>(queues.queue().value());
    check_turn(queues.queue().value(), claim.task * scenario_.batch);
    queues.finish(claim.task, read_slots(queues.queue().value(), claim.task * scenario_.batch));
  }
}

SlotCounts SteppedInterleave::read_slots(int queue, std::uint64_t first) {
  const auto& slots = slots_[static_cast<std::size_t>(queue)];
  SlotCounts counts;
  for (std::uint64_t number = first; number < first + scenario_.batch; ++number) {
    fibers_->step();
    const Slot& slot = slots[number % slots.size()];
    if (slot.number != number || slot.epoch != epoch_of(queue, number))
      fibers_->fail(concat("slot ", number, " of stream ", queue, " is not there"));
    if (slot.padding) ++counts.pads;
  }
  return counts;
}

/// Every task of every turn before that of this one is done.
void SteppedInterleave::check_turn(int queue, std::uint64_t first) {
  const std::uint64_t epoch = epoch_of(queue, first);
  for (int other = 0; other < streams(); ++other) {
    const auto& commits = committed_[static_cast<std::size_t>(other)];
    const std::uint64_t before = other < queue ? epoch + 1 : epoch;  // so many epochs
    const std::uint64_t end = before == 0 ? 0 : end_of(other, before - 1);
    for (std::uint64_t number = 0; number < end; ++number) {
      if (commits[number] != 0) continue;
      fibers_->fail(concat("sample ", first, " of stream ", queue, ", in epoch ", epoch,
                           ", came before ", number, " of stream ", other));
    }
  }
}

void SteppedInterleave::passed(Fiber& fiber, FaultPoint point) {
  if (point != FaultPoint::finish_after_done || fiber.stage != reader()) return;
  const auto streams = static_cast<std::uint64_t>(this->streams());
  auto& commits = committed_[fiber.task % streams];
  const std::uint64_t first = fiber.task / streams * scenario_.batch;
  for (std::uint64_t number = first; number < first + scenario_.batch; ++number) {
    if (++commits[number] != 1) fibers_->fail(concat("sample ", number, " was read twice"));
  }
}

void SteppedInterleave::check_the_end() {
  for (int s = 0; s < streams(); ++s) {
    const auto& commits = committed_[static_cast<std::size_t>(s)];
    if (level(reader(), QueueNumber(s)) != commits.size() ||
        std::count(commits.begin(), commits.end(), 1) != static_cast<long>(commits.size()))
      fibers_->fail(concat("samples of stream ", s, " were not read"));
    const auto& samples = scenario_.samples[static_cast<std::size_t>(s)];
    std::uint64_t full = 0;
    for (const std::uint64_t of_epoch : samples) full += of_epoch;
    const EdgeAudit edge = audit_edge(control_, StageNumber(s), reader(), QueueNumber(s));
    if (edge.produced != full || edge.delivered != full || edge.leaked != 0)
      fibers_->fail(concat("the audit of stream ", s, ": produced ", edge.produced, ", delivered ",
                           edge.delivered, " of ", full));
  }
}

}  // namespace brigade::stepping
