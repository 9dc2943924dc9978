// A flat_map stage, step by step: under every order of steps up to a bound, with a death at every
// step beside it. One or two sources, the stage as FlatMapRun drives it, and one or two readers of
// batches.
//
// At the end: each reader has seen the outputs of every input once, together, in the order of each
// source, under the epoch of their input and each epoch padded to whole batches; the stage was told
// of every epoch; and the audit are exact.

#include <gtest/gtest.h>

#include <algorithm>

#include <brigade/text.h>
#include "tests/support/planned_shape.h"
#include "tests/transports/stepping/explore.h"
#include "tests/transports/stepping/stepped_run.h"
#include "transports/flat_map_run.h"
#include "transports/stream_ends.h"

namespace brigade::stepping {
namespace {

struct MergeScenario : Events {
  using Run = class SteppedMerge;
  /// By source and epoch: how many samples it has.
  std::vector<std::vector<std::uint64_t>> samples = {{3}};
  bool streams = false;  ///< epochs end where the source says; else all are as long as the first
  std::uint64_t slot_io = 2;
  std::uint64_t input_multiple = 1;  ///< L of the sources
  std::uint64_t output_slots = 2;
  std::uint64_t batch = 2;  ///< of the readers: L of the outputs
  int readers = 1;
  bool repeats_outputs = false;  ///< a mistake: a successor gives the first outputs again
  bool records_late = false;     ///< a mistake: an end, after the first slot beyond it is published
};

class SteppedMerge : public SteppedRun {
 public:
  explicit SteppedMerge(const MergeScenario& scenario)
      : SteppedRun(scenario, line_of(scenario)), scenario_(scenario) {}

 private:
  struct Slot {
    std::uint64_t number = 0;
    std::uint64_t value = 0;  ///< 0: padding
    std::uint64_t epoch = 0;
  };

  /// The stage, for FlatMapRun.
  struct Body {
    SteppedMerge* line;
    std::uint64_t sample = 0;
    std::uint64_t written = 0;  // of its outputs, by this replica

    Result<FlatMapInput> look(int port, std::uint64_t number) {
      sample = number;
      written = 0;
      FlatMapInput input;
      const SlotState state = line->inputs_[static_cast<std::size_t>(port)][number];
      if (state == SlotState::pad) ++input.not_full.pads;
      if (state == SlotState::empty) ++input.not_full.empty_slots;
      if (state == SlotState::full) input.outputs = outputs_of(number);
      return input;
    }
    void write(int port, std::uint64_t i, std::uint64_t number, std::uint64_t epoch) {
      if (epoch != line->epoch_of(port, sample))
        line->fibers_->fail(concat("sample ", sample, " of source ", port, ", of epoch ",
                                   line->epoch_of(port, sample), ", was given in epoch ", epoch));
      const std::uint64_t output = line->scenario_.repeats_outputs ? written++ : i;
      line->write_slot({number, value_of(port, sample, output), epoch});
    }
    void pad(std::uint64_t number, std::uint64_t epoch) { line->write_slot({number, 0, epoch}); }
    void done(const FlatMapInput&) {}
    Result<void> tell(std::uint64_t epoch) {
      ++line->told_[epoch];
      return {};
    }
    void interrupt() {}
    void begin_wait(Cause) {}
    void end_wait(Cause) {}
  };

  static SharedShape line_of(const MergeScenario& scenario) {
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
    free.outputs_per_input = 2;  // at most: outputs_of()
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
  /// Empty slots have no outputs, others 0, 1 or 2.
  static std::uint64_t outputs_of(std::uint64_t sample) { return sample % 4; }
  static bool is_empty(std::uint64_t sample) { return sample % 4 == 3; }
  static std::uint64_t value_of(int source, std::uint64_t sample, std::uint64_t output) {
    return 1000 * static_cast<std::uint64_t>(source + 1) + 10 * sample + output + 1;
  }

  int merge() const { return static_cast<int>(scenario_.samples.size()); }
  std::uint64_t epochs() const { return scenario_.samples[0].size(); }
  /// By epoch.
  const std::vector<std::uint64_t>& samples_of(int source) const {
    return scenario_.samples[static_cast<std::size_t>(source)];
  }
  std::uint64_t consumed(int source) const {
    return level(StageNumber(merge()), input_queue(source));
  }
  std::uint64_t begin_of(int source, std::uint64_t epoch) const {
    std::uint64_t begin = 0;
    for (std::uint64_t e = 0; e < epoch; ++e)
      begin = closed(begin + samples_of(source)[e], scenario_.input_multiple);
    return begin;
  }
  std::uint64_t epoch_of(int source, std::uint64_t number) const {
    std::uint64_t epoch = 0;
    while (begin_of(source, epoch + 1) <= number) ++epoch;
    return epoch;
  }
  bool is_padding(int source, std::uint64_t number) const {
    const std::uint64_t epoch = epoch_of(source, number);
    return number - begin_of(source, epoch) >= samples_of(source)[epoch];
  }

  void reset() override {
    for (int s = 0; s < merge() && !scenario_.streams; ++s)
      set_end(control_, IndexSpaceNumber(s), samples_of(s)[0], begin_of(s, 1), epochs());
    inputs_.clear();
    for (int s = 0; s < merge(); ++s) inputs_.emplace_back(begin_of(s, epochs()), SlotState::pad);
    slots_.assign(scenario_.output_slots, {});
    seen_.assign(static_cast<std::size_t>(scenario_.readers), {});
    told_.assign(epochs(), 0);
  }
  void live(StageNumber stage, int) override {
    if (stage.value() < merge()) return source(stage.value());
    if (stage.value() > merge()) return reader(stage.value() - merge() - 1);
    Body work{this};
    ByQueue<std::uint64_t> multiples(scenario_.samples.size() + 1, scenario_.input_multiple);
    multiples[0] = scenario_.batch;
    FlatMapRun<P, Body> free(control_, stage, multiples, 0, work);
    if (!free.run().ok()) fibers_->fail("an error");
  }
  std::uint64_t own_state() const override {
    std::uint64_t hash = 0;
    for (const auto& inputs : inputs_)
      for (const SlotState state : inputs) hash = mix(hash, static_cast<std::uint64_t>(state));
    for (const Slot& slot : slots_) hash = mix(hash, mix(slot.number, mix(slot.value, slot.epoch)));
    for (const auto& seen : seen_)
      for (const Slot& slot : seen) hash = mix(hash, mix(slot.value, slot.epoch));
    for (const int told : told_) hash = mix(hash, static_cast<std::uint64_t>(told));
    return hash;
  }
  void lower_ends() override {
    for (int s = 0; s < merge(); ++s)
      lower_end(control_, IndexSpaceNumber(s), scenario_.input_multiple);
  }

  void source(int stage) {
    const StageNumber number(stage);
    Channel<P> channel(control_, number, 0, 0);
    const auto& inputs = inputs_[static_cast<std::size_t>(stage)];
    const std::uint64_t from = level(number, 0);
    StreamEnds<P> ends(control_, number, scenario_.input_multiple,
                       from > 0 && inputs[from - 1] == SlotState::pad);
    while (const auto task = claim(channel, number, 0)) {
      const std::uint64_t first = *task * channel.task_size();
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
      if (whole) channel.finish(*task, counts);
    }
  }

  /// False: a stream's epoch ends before this number; its end is recorded.
  bool goes_on(int stage, StreamEnds<P>& ends, std::uint64_t number) {
    const bool late = scenario_.records_late && ends.epoch() + 1 < epochs();
    const std::uint64_t last = begin_of(stage, ends.epoch()) + samples_of(stage)[ends.epoch()];
    if (ends.is_padding(number) || number != last + (late ? 1 : 0)) return true;
    ends.end(last);
    return false;
  }

  void write_slot(const Slot& slot) {
    Slot& shared = slots_[slot.number % slots_.size()];
    shared = {kNever, 0, 0};  // half written, should anybody look
    fibers_->step();
    shared = slot;
  }

  void reader(int reader) {
    const StageNumber stage(merge() + 1 + reader);
    Channel<P> channel(control_, stage, 0, 0);
    while (const auto task = claim(channel, stage, 0)) {
      SlotCounts counts;
      for (std::uint64_t i = 0; i < scenario_.batch; ++i) {
        const std::uint64_t number = *task * scenario_.batch + i;
        fibers_->step();
        const Slot& slot = slots_[number % slots_.size()];
        if (slot.number != number) fibers_->fail(concat("slot ", number, " is not there"));
        if (slot.value == 0) ++counts.pads;
        seen_[static_cast<std::size_t>(reader)].push_back(slot);
      }
      channel.finish(*task, counts);
    }
  }

  /// Unless a stop comes before it.
  SlotState state_of(int source, std::uint64_t number) const {
    if (is_padding(source, number)) return SlotState::pad;
    return is_empty(number) ? SlotState::empty : SlotState::full;
  }

  /// The values of an epoch of a source, in their order, as far as they were consumed.
  std::vector<std::uint64_t> expected(std::uint64_t epoch, int source) const {
    const auto& inputs = inputs_[static_cast<std::size_t>(source)];
    const std::uint64_t end = std::min(begin_of(source, epoch + 1), consumed(source));
    std::vector<std::uint64_t> values;
    for (std::uint64_t n = begin_of(source, epoch); n < end; ++n)
      for (std::uint64_t i = 0; inputs[n] == SlotState::full && i < outputs_of(n); ++i)
        values.push_back(value_of(source, n, i));
    return values;
  }

  void check_the_end() override {
    for (std::uint64_t epoch = 0; epoch < epochs(); ++epoch)
      if ((told_[epoch] < 1 && !events_.stop) || told_[epoch] > 1 + scenario_.deaths)
        fibers_->fail(concat("the end of epoch ", epoch, " was told ", told_[epoch], " times"));
    for (int r = 0; r < scenario_.readers; ++r) check_reader(r);
    for (int s = 0; s < merge(); ++s) check_input(s);
  }
  void check_reader(int reader) {
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
      if (slot - first != closed(count, scenario_.batch))
        fibers_->fail(concat(slot - first, " slots for ", count, " outputs of epoch ", epoch));
      full += count;
    }
    if (slot != seen.size()) fibers_->fail("epochs came in another order");
    expect_audit(StageNumber(merge()), StageNumber(merge() + 1 + reader), 0, full);
  }
  void check_input(int source) {
    const auto& inputs = inputs_[static_cast<std::size_t>(source)];
    const std::uint64_t end = control_.index_spaces[IndexSpaceNumber(source)]->end.value.raw();
    if (consumed(source) != end || (!events_.stop && end != inputs.size()))
      fibers_->fail(concat("source ", source, " was consumed up to ", consumed(source)));
    std::uint64_t full = 0;
    for (std::uint64_t n = 0; n < end; ++n) {
      full += inputs[n] == SlotState::full ? 1 : 0;
      if (!events_.stop && inputs[n] != state_of(source, n))
        fibers_->fail(concat("sample ", n, " of source ", source, " has a wrong state"));
    }
    expect_audit(StageNumber(source), StageNumber(merge()), input_queue(source), full);
  }

  const MergeScenario& scenario_;
  std::vector<std::vector<SlotState>> inputs_;  // by source and number, as it was published
  std::vector<Slot> slots_;                     // of the merge's ring
  std::vector<std::vector<Slot>> seen_;         // by reader, with the padding
  std::vector<int> told_;                       // by epoch
};

MergeScenario repack(int deaths, const char* name = "one_source",
                     const std::vector<std::vector<std::uint64_t>>& samples = {{4}}) {
  MergeScenario made;
  made.name = name;
  made.samples = samples;
  made.deaths = deaths;
  made.victim_stage = StageNumber(deaths > 0 ? static_cast<int>(samples.size()) : -1);
  made.detours = deaths > 0 ? kEffort.detours_around_death : kEffort.detours;
  return made;
}

MergeScenario merge(int deaths) {
  MergeScenario made = repack(deaths, "two_sources", {{3}, {3}});
  made.output_slots = 4;
  return made;
}

/// Streams with an epoch that ends at a multiple of L, one that does not, and an empty one.
MergeScenario streams(int deaths) {
  MergeScenario made = repack(deaths, "streams", {{2, 1}, {3, 0}});
  made.streams = true;
  made.input_multiple = 2;
  made.slot_io = 4;
  made.output_slots = 4;
  return made;
}

/// Whose next epoch may follow with the very next slot.
MergeScenario stream(int deaths) {
  MergeScenario made = repack(deaths, "stream", {{2, 3}});
  made.streams = true;
  return made;
}

std::vector<MergeScenario> all(int deaths) {
  return {repack(deaths), repack(deaths, "two_epochs", {{3, 3}}), merge(deaths), stream(deaths),
          streams(deaths)};
}

TEST(FlatMap, HoldsInEveryOrderOfSteps) {
  for (const MergeScenario& made : all(0)) expect_good(made);
}

TEST(FlatMap, NeitherLosesNorRepeatsAnOutputWhereverItDies) {
  for (const MergeScenario& made : all(1)) expect_good(made);
}

TEST(FlatMap, TheSlowerOfTwoReadersKeepsTheSlots) {
  for (const int deaths : {0, 1}) {
    MergeScenario made = repack(deaths);
    made.name = "two_readers";
    made.samples = {{3}};
    made.batch = 1;
    made.readers = 2;
    expect_good(made);
  }
}

TEST(FlatMap, NorWhereverItsSourceDies) {
  for (MergeScenario made : {stream(1), streams(1)}) {
    made.victim_stage = 0;
    expect_good(made);
  }
}

TEST(FlatMap, DrainsWhenStoppedAtAnyTimeAndWhoeverDies) {
  for (const int deaths : {0, 1}) {
    for (MergeScenario made : all(deaths)) {
      made.stop = true;
      made.detours = kEffort.detours_around_death;
      expect_good(made);
    }
  }
}

TEST(FlatMap, NorWhenItDiesTwice) {
  MergeScenario made = repack(2);
  made.samples = {{3}};
  made.detours = 0;
  expect_good(made);
}

// --- what must be noticed ------------------------------------------------------------------------

TEST(FlatMapNegativeControls, ASuccessorThatWritesAllOutputsAgainRepeatsSome) {
  MergeScenario made = repack(1);
  made.repeats_outputs = true;
  EXPECT_EQ(caught(made), "outputs were lost, repeated or mixed up");
}

TEST(FlatMapNegativeControls, AJournalThatIsNotSettledRepeatsAnInput) {
  MergeScenario made = repack(1);
  made.rules.settle = false;
  EXPECT_NE(caught(made), "nothing");
}

TEST(FlatMapNegativeControls, AnEndThatIsRecordedTooLateLabelsASlotWrongly) {
  MergeScenario made = stream(0);
  made.records_late = true;
  EXPECT_EQ(caught(made), "sample 2 of source 0, of epoch 1, was given in epoch 0");
}

}  // namespace
}  // namespace brigade::stepping
