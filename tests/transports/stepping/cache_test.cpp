// The two lanes of a cache, step by step: lane 1 keeps what it reads, lane 0 gives what has been
// kept, in an order of its own, for two epochs. A replica may die at any step. At the end: every
// number was kept once and given once in each epoch, and nothing was given before it was kept.

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "base/text.h"
#include "tests/support/planned_shape.h"
#include "tests/transports/stepping/effort.h"
#include "tests/transports/stepping/explore.h"
#include "tests/transports/stepping/stepped_run.h"
#include "transports/joined_lanes.h"

namespace brigade::stepping {
namespace {

struct CacheScenario : Events {
  int replicas = 1;
  std::uint64_t samples = 3;
  std::uint64_t rows = 2;     ///< of both rings
  bool gives_unkept = false;  ///< a mistake: what is not there yet is given
  bool keeps_late = false;    ///< a mistake: a sample is kept after its task is done
};

class SteppedCache : public SteppedRun {
 public:
  explicit SteppedCache(const CacheScenario& scenario)
      : SteppedRun(scenario, line_of(scenario)), scenario_(scenario) {}

 private:
  static constexpr std::uint64_t kEpochs = 2;
  static constexpr int kCache = 1;

  static GraphShape line_of(const CacheScenario& scenario) {
    GraphBuilder graph;
    graph.graph().epochs = kEpochs;
    ValidStage& source = graph.producer("source", {support::kPlannedNumber});
    source.samples = scenario.samples;
    source.rows = 1;
    ValidStage& kept = graph.transform("kept", {"source"}, {support::kPlannedNumber});
    kept.passed = {{support::kPlannedNumber.name, 0}};
    kept.rows = 1;
    kept.replicas = static_cast<std::uint64_t>(scenario.replicas);
    graph.type_of("kept").contract.cache = true;
    graph.consumer("reader", {"kept"}).rows = 1;
    return support::planned_shape(graph, {scenario.rows, scenario.rows, 0});
  }

  /// Which sample is given under this number.
  std::uint64_t sample_of(std::uint64_t number) const {
    const std::uint64_t index = number % scenario_.samples;
    return number < scenario_.samples ? scenario_.samples - 1 - index : index;
  }

  void reset() override {
    set_end(control_, 0, scenario_.samples, scenario_.samples, 1);
    set_end(control_, 1, scenario_.samples, scenario_.samples, kEpochs);
    kept_ = std::make_unique<Word[]>(scenario_.samples);
    given_.assign(scenario_.rows, kNever);
    finished_.assign(2, std::vector<int>(scenario_.samples * kEpochs));
    seen_.clear();
  }
  void live(int stage, int replica) override {
    stage == kCache ? cache(replica) : work_in_order(stage);
  }
  std::uint64_t own_state() const override {
    std::uint64_t hash = 0;
    for (std::uint64_t sample = 0; sample < scenario_.samples; ++sample)
      hash = mix(hash, kept_[sample].raw());
    for (const std::uint64_t sample : given_) hash = mix(hash, sample);
    for (const std::uint64_t sample : seen_) hash = mix(hash, sample);
    for (const auto& lane : finished_)
      for (const int times : lane) hash = mix(hash, static_cast<std::uint64_t>(times));
    return hash;
  }

  void work_in_order(int stage) {
    Channel<P> channel(control_, stage, 0, 0);
    for (;;) {
      const auto claim = this->claim(channel, stage, 0);
      if (claim.look == Look::ended) return;
      if (stage > kCache) {
        fibers_->step();
        if (given_[claim.task % given_.size()] != sample_of(claim.task))
          fibers_->fail(concat("row ", claim.task, " is not there"));
        seen_.push_back(claim.task);
      }
      channel.finish(claim.task);
    }
  }

  void cache(int replica) {
    JoinedLanes<P> lanes(control_, kCache, replica);
    std::uint64_t number = 0;
    lanes.give_up_to([&] {
      number = std::max(number, lanes.at(0).low());
      while (number < scenario_.samples * kEpochs && is_kept(sample_of(number))) ++number;
      return scenario_.gives_unkept ? number + 1 : number;
    });
    for (;;) {
      const auto claim = this->claim(lanes, kCache, replica, lanes.watched());
      if (claim.look == Look::ended) return;
      fibers_->current().task = 2 * claim.task + static_cast<std::uint64_t>(lanes.lane());
      if (lanes.lane() == 0) give(claim.task);
      if (lanes.lane() == 1 && !scenario_.keeps_late) keep(claim.task);
      lanes.finish(claim.task, {});
      if (lanes.lane() == 1) keep(claim.task);
    }
  }
  bool is_kept(std::uint64_t sample) const {
    return kept_[sample].load(std::memory_order_acquire) != 0;
  }
  void keep(std::uint64_t sample) {
    if (!is_kept(sample)) kept_[sample].store(1, std::memory_order_release);
  }
  void give(std::uint64_t number) {
    auto& row = given_[number % given_.size()];
    row = kNever;
    fibers_->step();
    if (!is_kept(sample_of(number)))
      fibers_->fail(concat("sample ", sample_of(number), " was given and is not kept"));
    row = sample_of(number);
  }
  void passed(Fiber& fiber, FaultPoint point) override {
    if (point != FaultPoint::finish_after_done || fiber.stage != kCache) return;
    if (++finished_[fiber.task % 2][fiber.task / 2] != 1)
      fibers_->fail(concat("task ", fiber.task / 2, " was done twice"));
  }

  void check_the_end() override {
    const std::uint64_t given = scenario_.samples * kEpochs;
    if (low(kCache, 0) != given || low(kCache, 1) != scenario_.samples || low(2, 0) != given)
      fibers_->fail("the cache ended early");
    if (seen_.size() != given) fibers_->fail(concat(seen_.size(), " rows came of ", given));
    for (int lane : {0, 1}) {
      const EdgeAudit books =
          lane == 0 ? audit_edge(control_, kCache, 2, 0) : audit_edge(control_, 0, kCache, 1);
      if (books.leaked != 0 || books.produced != books.delivered) fibers_->fail("the books");
    }
  }

  using Word = P::Atomic<std::uint64_t>;
  const CacheScenario& scenario_;
  std::unique_ptr<Word[]> kept_;            // by sample
  std::vector<std::uint64_t> given_;        // the ring: the sample of each row
  std::vector<std::vector<int>> finished_;  // by lane and task
  std::vector<std::uint64_t> seen_;
};

CacheScenario cache(int replicas, int victim = -1) {
  CacheScenario made;
  made.replicas = replicas;
  made.victim_stage = victim;
  made.detours = victim < 0 ? kEffort.detours : kEffort.detours_around_death;
  return made;
}

void expect_good(const CacheScenario& made) {
  const Exploration all = enumerate<SteppedCache>(made, kEffort.runs_max);
  EXPECT_EQ(all.failure, "");
  std::cout << "  " << made.replicas << " replicas, victim in stage " << made.victim_stage << ", "
            << made.detours << " detours: " << all.runs << " runs, " << all.states << " states"
            << (all.complete ? "" : " (cut)") << "\n";
  const Exploration some = walk<SteppedCache>(made, 1, kEffort.random_runs);
  EXPECT_EQ(some.failure, "");
}

class CacheOf : public testing::TestWithParam<int> {};

TEST_P(CacheOf, GivesWhatIsKeptAndWaitsForTheRest) { expect_good(cache(GetParam())); }

TEST_P(CacheOf, WhoeverDies) {
  for (const int victim : {0, 1}) expect_good(cache(GetParam(), victim));
}

INSTANTIATE_TEST_SUITE_P(Replicas, CacheOf, testing::Values(1, 2));

std::string caught(CacheScenario made) {
  for (made.detours = 0; made.detours <= 2; ++made.detours) {
    const Exploration all = enumerate<SteppedCache>(made, 200'000);
    if (!all.failure.empty()) return all.failure.substr(0, all.failure.find('\n'));
  }
  return "nothing";
}

TEST(CacheNegativeControls, WhatIsNotKeptMustNotBeGiven) {
  CacheScenario made = cache(1);
  made.gives_unkept = true;
  EXPECT_EQ(caught(made), "sample 2 was given and is not kept");
}

TEST(CacheNegativeControls, ASampleMustBeKeptBeforeItsTaskIsDone) {
  CacheScenario made = cache(2);
  made.keeps_late = true;
  EXPECT_NE(caught(made), "nothing");
}

TEST(CacheNegativeControls, RepairWithoutReopeningHangs) {
  CacheScenario made = cache(2, 1);
  made.rules.reopen = false;
  EXPECT_EQ(caught(made), "deadlock");
}

}  // namespace
}  // namespace brigade::stepping
