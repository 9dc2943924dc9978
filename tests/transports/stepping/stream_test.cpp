// A stream with one replica, step by step: under every order of steps up to a bound, with a death
// at every step beside it, and at every sample of an unfinished batch perhaps a wait that closes
// the batch.
//
// At the end: each sample of each epoch was read once, in order, in its own epoch; no slot is left
// over, and the audit is exact.

#include <gtest/gtest.h>

#include <algorithm>

#include <brigade/text.h>
#include "tests/transports/stepping/explore.h"
#include "tests/transports/stepping/stepped_run.h"
#include "transports/stream_ends.h"

namespace brigade::stepping {
namespace {

struct StreamScenario : Events {
  using Run = class SteppedStream;
  std::vector<std::uint64_t> samples = {2, 3};  ///< of each epoch
  std::uint64_t chunk = 2;
  std::uint64_t batch = 4;  ///< of the reader: L
  // Mistakes:
  bool pads_to_the_end = false;  ///< a successor takes all padding for that of a recorded end
  bool asks_in_padding = false;  ///< it takes none for that of a closed batch
  bool closes_an_end = false;    ///< also when the end is recorded, a wait closes a batch
};

class SteppedStream : public SteppedRun {
 public:
  explicit SteppedStream(const StreamScenario& scenario)
      : SteppedRun(scenario, line_of(scenario)), scenario_(scenario) {}

 private:
  struct Slot {
    std::uint64_t number = 0;
    std::uint64_t epoch = 0;
    std::uint64_t index = 0;  ///< of the epoch's next sample, if it is padding
    bool padding = false;
  };

  static std::uint64_t slots_of(const StreamScenario& scenario) { return 2 * scenario.batch; }
  static SharedShape line_of(const StreamScenario& scenario) {
    return stream_shape({.chunk = scenario.chunk,
                         .batch = scenario.batch,
                         .slots = slots_of(scenario),
                         .epochs = scenario.samples.size()});
  }

  void reset() override {
    slots_.assign(slots_of(scenario_), {});
    seen_.clear();
    place_ = {};
    pad_up_to_ = 0;
  }
  void live(StageNumber stage, int) override { stage == 0 ? give() : read(); }
  void lower_ends() override { lower_end(control_, 0, scenario_.batch); }
  std::uint64_t own_state() const override {
    std::uint64_t hash = mix(hash_of(place_), pad_up_to_);
    for (const Slot& slot : slots_) hash = mix(hash, hash_of(slot));
    for (const Slot& slot : seen_) hash = mix(hash, hash_of(slot));
    return hash;
  }
  static std::uint64_t hash_of(const Slot& slot) {
    return mix(mix(slot.number, slot.epoch), slot.index << 1 | (slot.padding ? 1 : 0));
  }

  /// What the runtime's work and loop do between them.
  void give() {
    Channel<P> channel(control_, 0, 0, 0);
    find_place();
    StreamEnds<P> ends(control_, 0, scenario_.batch, place_.padding && !scenario_.asks_in_padding);
    while (const auto task = claim(channel, 0, 0)) {
      if (!ends.enter(*task * scenario_.chunk)) continue;
      if (place_.epoch != ends.epoch()) place_ = {0, ends.epoch(), 0, false};
      SlotCounts counts;
      if (fill(*task * scenario_.chunk, ends, counts)) channel.finish(*task, counts);
    }
  }
  /// From the slot before the watermark.
  void find_place() {
    const std::uint64_t from = level(0, 0);
    place_ = from == 0 ? Slot{} : slots_[(from - 1) % slots_.size()];
    if (from > 0 && !place_.padding) ++place_.index;
    const std::uint64_t end = control_.epoch_ends[0].at(place_.epoch);
    const bool mistaken =
        scenario_.pads_to_the_end || (scenario_.asks_in_padding && from % scenario_.batch != 0);
    pad_up_to_ = mistaken && place_.padding && end != kNever ? end : 0;
  }
  /// False: the epoch has ended before this task.
  bool fill(std::uint64_t first, StreamEnds<P>& ends, SlotCounts& counts) {
    for (std::uint64_t n = first; n < first + scenario_.chunk; ++n) {
      const bool padding = !ask(n, ends);
      if (padding && !pads(n, ends)) return false;
      Slot& slot = slots_[n % slots_.size()];
      slot = {kNever, 0, 0, false};  // half written, should anybody look
      fibers_->step();
      slot = {n, place_.epoch, place_.index, padding};
      ++(padding ? counts.pads : place_.index);
    }
    return true;
  }
  bool pads(std::uint64_t number, const StreamEnds<P>& ends) const {
    return ends.is_padding(number) || number < pad_up_to_;
  }
  /// Whether there is a sample for this number.
  bool ask(std::uint64_t number, StreamEnds<P>& ends) {
    if (pads(number, ends)) return false;
    const bool open =
        ends.is_open(number) || (scenario_.closes_an_end && number % scenario_.batch != 0);
    if (open && fibers_->chance()) {
      ends.close(number);
      return false;
    }
    if (place_.index < scenario_.samples[place_.epoch]) return true;
    ends.end(number);
    return false;
  }

  void read() {
    read_batches(1, scenario_.batch, [&](std::uint64_t number) {
      const Slot& slot = slots_[number % slots_.size()];
      if (slot.number != number) fibers_->fail(concat("slot ", number, " is not there"));
      seen_.push_back(slot);
      return slot.padding;
    });
  }

  void check_the_end() override {
    std::vector<std::uint64_t> next(scenario_.samples.size());
    for (const Slot& slot : seen_) {
      const auto& ends = control_.epoch_ends[0];
      if (slot.number >= ends.at(slot.epoch) ||
          (slot.epoch > 0 && slot.number < ends.at(slot.epoch - 1)))
        fibers_->fail(concat("slot ", slot.number, " is not of epoch ", slot.epoch));
      if (!slot.padding && slot.index != next[slot.epoch]++)
        fibers_->fail(concat("samples of epoch ", slot.epoch, " were lost or repeated"));
    }
    std::uint64_t full = 0;
    for (std::size_t epoch = 0; epoch < next.size(); ++epoch) {
      full += next[epoch];
      const bool all = !events_.stop || (epoch + 1 < next.size() && next[epoch + 1] > 0);
      if (all && next[epoch] != scenario_.samples[epoch])
        fibers_->fail(concat(next[epoch], " samples of epoch ", epoch, " came"));
    }
    expect_stream_ended(scenario_.batch, full);
  }

  const StreamScenario& scenario_;
  std::vector<Slot> slots_;
  std::vector<Slot> seen_;       // by the reader
  Slot place_;                   // of the stream's next sample
  std::uint64_t pad_up_to_ = 0;  // by a mistake
};

StreamScenario padded_stream(int deaths) {
  StreamScenario made;
  made.name = "tasks_of_two";
  made.deaths = deaths;
  made.victim_stage = StageNumber(deaths > 0 ? 0 : -1);
  made.detours = deaths > 0 ? kEffort.detours_around_death : kEffort.detours;
  return made;
}

/// Tasks of half a batch, of one sample, and of a batch, with an empty epoch.
std::vector<StreamScenario> all_padded(int deaths) {
  StreamScenario slots = padded_stream(deaths), batches = padded_stream(deaths);
  slots.name = "tasks_of_one";
  slots.samples = {1, 2};
  slots.chunk = 1;
  slots.batch = 2;
  batches.name = "tasks_of_a_batch";
  batches.samples = {0, 3};
  batches.batch = 2;
  return {padded_stream(deaths), slots, batches};
}

TEST(Stream, GivesEachSampleOnceWheneverItClosesABatch) {
  for (const StreamScenario& made : all_padded(0)) expect_good(made);
}

TEST(Stream, WhereverItDies) {
  for (const StreamScenario& made : all_padded(1)) expect_good(made);
}

TEST(Stream, WhereverItDiesTwice) {
  StreamScenario made = padded_stream(2);
  made.samples = {2};
  expect_good(made);
}

TEST(Stream, DrainsWhenStoppedAtAnyTimeAndWhereverItDies) {
  for (const int deaths : {0, 1}) {
    StreamScenario made = padded_stream(deaths);
    made.stop = true;
    made.detours = kEffort.detours_around_death;
    expect_good(made);
  }
}

// A wait had closed a batch; the first sample of the next task was the epoch's last.
TEST(StreamNegativeControls, PaddingUpToARecordedEndLosesTheSamplesOfTheTaskBeforeIt) {
  StreamScenario made = padded_stream(1);
  made.samples = {2};
  made.pads_to_the_end = true;
  EXPECT_EQ(caught(made), "1 samples of epoch 0 came");
}

// It died in the padding of a closed batch. Its successor gave that batch the epoch's last sample,
// and died as well.
TEST(StreamNegativeControls, ASampleAfterUnfinishedPaddingIsLostWithItsTask) {
  StreamScenario made = padded_stream(2);
  made.samples = {2};
  made.asks_in_padding = true;
  EXPECT_EQ(caught(made), "1 samples of epoch 0 came");
}

TEST(StreamNegativeControls, ABatchThatIsClosedAfterItsEndWasRecordedLosesSamples) {
  StreamScenario made = padded_stream(1);
  made.samples = {3};
  made.closes_an_end = true;
  EXPECT_EQ(caught(made), "2 samples of epoch 0 came");
}

}  // namespace
}  // namespace brigade::stepping
