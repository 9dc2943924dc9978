// A stream with two replicas, step by step: they share its numbers by claiming tasks, and the last
// one to acknowledge finds the end. A replica may die at any step, and may not come back; a stop
// may come at any time. At the end: the reader has seen each sample of each replica once, in its
// order, and up to the end padding alone.

#include <gtest/gtest.h>

#include <algorithm>

#include <brigade/text.h>
#include "tests/transports/stepping/explore.h"
#include "tests/transports/stepping/stepped_run.h"
#include "transports/stream_ends.h"

namespace brigade::stepping {
namespace {

struct SharedScenario : Events {
  using Run = class SteppedShared;
  std::vector<std::uint64_t> samples = {2, 1};  ///< of each replica
  std::uint64_t task = 1;
  std::uint64_t batch = 2;           ///< of the reader: L
  bool gone_are_waited_for = false;  ///< a mistake: nobody acknowledges for one that is gone
  bool first_ends_alone = false;     ///< a mistake: the end is the first replica's to find
};

class SteppedShared : public SteppedRun {
 public:
  explicit SteppedShared(const SharedScenario& scenario)
      : SteppedRun(scenario, line_of(scenario)), scenario_(scenario) {}

 private:
  static constexpr std::uint64_t kSlots = 4;

  static SharedShape line_of(const SharedScenario& scenario) {
    return stream_shape({.chunk = scenario.task,
                         .batch = scenario.batch,
                         .slots = kSlots,
                         .replicas = scenario.samples.size()});
  }

  void reset() override {
    slots_.assign(kSlots, {});
    seen_.clear();
  }
  void live(StageNumber stage, int replica) override { stage == 0 ? give(replica) : read(); }
  std::uint64_t own_state() const override {
    std::uint64_t hash = 0;
    for (const auto& [number, value] : slots_) hash = mix(hash, mix(number, value));
    for (const std::uint64_t value : seen_) hash = mix(hash, value);
    return hash;
  }
  void give_up() override {
    if (scenario_.gone_are_waited_for) return;
    control_.replicas[0].ack.value.store(1, std::memory_order_seq_cst);
    ring_everybody(control_);
    end_if_all_acknowledged(control_, 0, scenario_.batch);
  }
  void lower_ends() override { lower_end(control_, 0, scenario_.batch); }

  /// What the runtime's work and loop do between them.
  void give(int replica) {
    Channel<P> channel(control_, 0, 0, replica);
    SharedStreamEnds<P> ends(control_, 0, replica, scenario_.batch);
    const auto& tally = control_.stages[0].queues[0].tallies[replica];
    std::uint64_t next = tally.entries[tally.newest()].counts().samples_done;
    const std::uint64_t samples = scenario_.samples[replica];
    for (;;) {
      bool ready = ends.stop() != Stop::none || (!ends.is_over() && next < samples);
      if (!ready) {
        ends.end();
        ready = ends.acknowledge();
        if (!ready && scenario_.first_ends_alone) {
          lower_ends();
          ready = true;
        }
      }
      if (!ready) {
        ends.wait_for_others();
        continue;
      }
      const auto task = claim(channel, 0, replica);
      if (!task) return;
      SlotCounts counts;
      for (std::uint64_t n = *task * scenario_.task; n < (*task + 1) * scenario_.task; ++n) {
        const bool full = !ends.is_over() && next < samples && ends.stop() == Stop::none;
        write(n, full ? value_of(replica, next) : 0);
        next += full ? 1 : 0;
        ++(full ? counts.samples_done : counts.pads);
      }
      channel.finish(*task, counts);
    }
  }
  void write(std::uint64_t number, std::uint64_t value) {
    auto& slot = slots_[number % kSlots];
    slot = {kNever, 0};  // half written, should anybody look
    fibers_->step();
    slot = {number, value};
  }
  void read() {
    read_batches(1, scenario_.batch, [&](std::uint64_t number) {
      const auto& [there, value] = slots_[number % kSlots];
      if (there != number) fibers_->fail(concat("slot ", number, " is not there"));
      seen_.push_back(value);
      return value == 0;
    });
  }
  static std::uint64_t value_of(int replica, std::uint64_t sample) {
    return 100 * static_cast<std::uint64_t>(replica + 1) + sample;
  }

  void check_the_end() override {
    std::uint64_t full = 0;
    for (int r = 0; r < shape_of(0).replicas; ++r) {
      std::vector<std::uint64_t> got;
      for (const std::uint64_t value : seen_)
        if (value / 100 == static_cast<std::uint64_t>(r + 1)) got.push_back(value % 100);
      for (std::size_t i = 0; i < got.size(); ++i)
        if (got[i] != i) fibers_->fail(concat("samples of replica ", r, " were lost or repeated"));
      const bool all = !events_.stop && (events_.restart || r != 0);
      if (all && got.size() != scenario_.samples[r])
        fibers_->fail(concat(got.size(), " samples of replica ", r, " came"));
      full += got.size();
    }
    expect_stream_ended(scenario_.batch, full);
  }

  const SharedScenario& scenario_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> slots_;  // number, value; 0: padding
  std::vector<std::uint64_t> seen_;                             // by the reader
};

SharedScenario shared(StageNumber victim = -1) {
  SharedScenario made;
  made.name = "slots";
  made.victim_stage = victim;
  made.detours = victim < 0 ? kEffort.detours : kEffort.detours_around_death;
  return made;
}

SharedScenario in_tasks_of_two(StageNumber victim = -1) {
  SharedScenario made = shared(victim);
  made.name = "tasks_of_two";
  made.samples = {3, 2};
  made.task = 2;
  return made;
}

TEST(SharedStreamNegativeControls, AnEndThatIsTheFirstReplicasLosesSamplesOfTheOther) {
  SharedScenario made = shared();
  made.first_ends_alone = true;
  EXPECT_NE(caught(made), "nothing");
}

TEST(SharedStream, EndsWithItsLastReplica) {
  expect_good(shared());
  expect_good(in_tasks_of_two());
}

TEST(SharedStream, WhoeverDies) {
  expect_good(shared(0));
  expect_good(in_tasks_of_two(0));
}

TEST(SharedStream, AlsoWithoutTheOneThatDoesNotComeBack) {
  for (SharedScenario made : {shared(0), in_tasks_of_two(0)}) {
    made.restart = false;
    expect_good(made);
  }
}

TEST(SharedStream, DrainsWhenStoppedAtAnyTimeAndWhoeverDies) {
  for (const int victim : {-1, 0}) {
    SharedScenario made = shared(StageNumber(victim));
    made.detours = kEffort.detours_around_death;
    made.stop = true;
    expect_good(made);
  }
}

TEST(SharedStreamNegativeControls, OneThatIsGoneAndNeverAcknowledgesHoldsUpTheEnd) {
  SharedScenario made = shared(0);
  made.restart = false;
  made.gone_are_waited_for = true;
  EXPECT_EQ(caught(made), "deadlock");
}

TEST(SharedStreamNegativeControls, RepairWithoutSettlingGivesASampleTwiceOrNever) {
  SharedScenario made = shared(0);
  made.rules.settle = false;
  EXPECT_NE(caught(made), "nothing");
}

}  // namespace
}  // namespace brigade::stepping
