// Streams under `join: epochs`, step by step: under every order of steps up to a bound, with a
// death at every step beside it.
//
// Epochs of a stream end where it says, at a multiple of L or with padding, and it goes on at once
// with the next; the replicas of a reader take an epoch of the first, the same epoch of the second,
// and so on. Whenever the reader claims a task: every task of all turns before it is done. At the
// end: each slot of each stream has been read once, with the label of its epoch.

#include <gtest/gtest.h>

#include <algorithm>

#include <brigade/text.h>
#include "tests/support/planned_shape.h"
#include "tests/transports/stepping/explore.h"
#include "tests/transports/stepping/stepped_run.h"
#include "transports/joined_queues.h"
#include "transports/stream_ends.h"

namespace brigade::stepping {
namespace {

struct InterleaveScenario : Events {
  using Run = class SteppedInterleave;
  /// By stream and epoch: how many samples it has.
  std::vector<std::vector<std::uint64_t>> samples;
  std::uint64_t slots = 2;  ///< of each stream's ring
  std::uint64_t batch = 1;  ///< of the reader: L
  int readers = 1;
  bool records_late = false;  ///< a mistake: an end, after the first slot beyond it is published
};

class SteppedInterleave : public SteppedRun {
 public:
  explicit SteppedInterleave(const InterleaveScenario& scenario)
      : SteppedRun(scenario, line_of(scenario)), scenario_(scenario) {}

 private:
  struct Slot {
    std::uint64_t number = 0;
    std::uint64_t epoch = 0;
    bool padding = false;
  };

  static SharedShape line_of(const InterleaveScenario& scenario) {
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

  int streams() const { return static_cast<int>(scenario_.samples.size()); }
  StageNumber reader() const { return StageNumber(streams()); }
  /// Where an epoch of a stream ends.
  std::uint64_t end_of(int stream, std::uint64_t epoch) const {
    std::uint64_t end = 0;
    for (std::uint64_t e = 0; e <= epoch; ++e)
      end = closed(end + scenario_.samples[static_cast<std::size_t>(stream)][e], scenario_.batch);
    return end;
  }
  std::uint64_t epoch_of(int stream, std::uint64_t number) const {
    std::uint64_t epoch = 0;
    while (end_of(stream, epoch) <= number) ++epoch;
    return epoch;
  }

  void reset() override {
    slots_.assign(scenario_.samples.size(), std::vector<Slot>(scenario_.slots));
    committed_.clear();
    for (int s = 0; s < streams(); ++s)
      committed_.emplace_back(end_of(s, scenario_.samples[static_cast<std::size_t>(s)].size() - 1));
  }
  void live(StageNumber stage, int replica) override {
    stage == reader() ? read(replica) : stream(stage.value());
  }
  std::uint64_t own_state() const override {
    std::uint64_t hash = 0;
    for (const auto& slots : slots_)
      for (const Slot& slot : slots)
        hash = mix(hash, mix(slot.number, slot.epoch << 1 | (slot.padding ? 1 : 0)));
    for (const auto& commits : committed_)
      for (const int commit : commits) hash = mix(hash, static_cast<std::uint64_t>(commit));
    return hash;
  }

  void stream(int stage) {
    const auto& samples = scenario_.samples[static_cast<std::size_t>(stage)];
    auto& slots = slots_[static_cast<std::size_t>(stage)];
    const StageNumber number_of_stage(stage);
    Channel<P> channel(control_, number_of_stage, 0, 0);
    const std::uint64_t from = level(number_of_stage, 0);
    StreamEnds<P> ends(control_, number_of_stage, scenario_.batch,
                       from > 0 && slots[(from - 1) % slots.size()].padding);
    while (const auto task = claim(channel, number_of_stage, 0)) {
      const std::uint64_t number = *task;
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
  void read(int replica) {
    JoinedQueues<P> queues(control_, reader(), replica);
    while (const auto task = claim(queues, reader(), replica, queues.watched())) {
      Fiber& fiber = fibers_->current();
      fiber.task = *task * static_cast<std::uint64_t>(streams()) +
                   static_cast<std::uint64_t>(queues.queue().value());
      check_turn(queues.queue().value(), *task * scenario_.batch);
      queues.finish(*task, read_slots(queues.queue().value(), *task * scenario_.batch));
    }
  }
  SlotCounts read_slots(int queue, std::uint64_t first) {
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
  void check_turn(int queue, std::uint64_t first) {
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
  void passed(Fiber& fiber, FaultPoint point) override {
    if (point != FaultPoint::finish_after_done || fiber.stage != reader()) return;
    const auto streams = static_cast<std::uint64_t>(this->streams());
    auto& commits = committed_[fiber.task % streams];
    const std::uint64_t first = fiber.task / streams * scenario_.batch;
    for (std::uint64_t number = first; number < first + scenario_.batch; ++number) {
      if (++commits[number] != 1) fibers_->fail(concat("sample ", number, " was read twice"));
    }
  }
  void check_the_end() override {
    for (int s = 0; s < streams(); ++s) {
      const auto& commits = committed_[static_cast<std::size_t>(s)];
      if (level(reader(), QueueNumber(s)) != commits.size() ||
          std::count(commits.begin(), commits.end(), 1) != static_cast<long>(commits.size()))
        fibers_->fail(concat("samples of stream ", s, " were not read"));
      const auto& samples = scenario_.samples[static_cast<std::size_t>(s)];
      std::uint64_t full = 0;
      for (const std::uint64_t of_epoch : samples) full += of_epoch;
      expect_audit(StageNumber(s), reader(), QueueNumber(s), full);
    }
  }

  const InterleaveScenario& scenario_;
  std::vector<std::vector<Slot>> slots_;     // by stream
  std::vector<std::vector<int>> committed_;  // by stream and number, by the reader
};

/// A stream with two epochs that end at a multiple of L, and one with a short and an empty one.
InterleaveScenario two_streams(int readers, StageNumber victim = -1) {
  InterleaveScenario made;
  made.name = "two_streams";
  made.samples = {{1, 1}, {1, 0}};
  made.readers = readers;
  made.victim_stage = victim;
  made.detours = victim < 0 ? kEffort.detours : kEffort.detours_around_death;
  return made;
}

InterleaveScenario batches(int readers, StageNumber victim = -1) {
  InterleaveScenario made = two_streams(readers, victim);
  made.name = "batches";
  made.samples = {{2, 1}, {1, 2}};
  made.batch = 2;
  made.slots = 4;
  return made;
}

class InterleaveOf : public testing::TestWithParam<int> {};

TEST_P(InterleaveOf, NothingOfTheNextEpochComesBeforeTheOtherStreamsTurn) {
  expect_good(two_streams(GetParam()));
  expect_good(batches(GetParam()));
}

TEST_P(InterleaveOf, WhoeverDies) {
  for (const int victim : {0, 1, 2}) {
    expect_good(two_streams(GetParam(), StageNumber(victim)));
    expect_good(batches(GetParam(), StageNumber(victim)));
  }
}

INSTANTIATE_TEST_SUITE_P(Readers, InterleaveOf, testing::Values(1, 2));

TEST(InterleaveNegativeControls, AnEndThatIsRecordedTooLateLetsTheNextEpochComeFirst) {
  InterleaveScenario made = two_streams(1);
  made.records_late = true;
  const Exploration all = enumerate(made, 200'000);
  EXPECT_NE(all.failure.find("came before 0 of stream 1"), std::string::npos) << all.failure;
}

}  // namespace
}  // namespace brigade::stepping
