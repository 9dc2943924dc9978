// The two task queues of a cache, step by step: task queue 1 keeps what it reads, task queue 0
// gives what has been kept, in an order of its own, for two epochs. A replica may die at any step.
// At the end: every number was kept once and given once in each epoch, and nothing was given before
// it was kept.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include <brigade/text.h>
#include "tests/support/planned_shape.h"
#include "tests/transports/stepping/explore.h"
#include "tests/transports/stepping/stepped_run.h"
#include "transports/joined_queues.h"

namespace brigade::stepping {
namespace {

struct CacheScenario : Events {
  using Run = class SteppedCache;
  int replicas = 1;
  std::uint64_t samples = 3;
  std::uint64_t slots = 2;      ///< of both rings
  bool gives_uncached = false;  ///< a mistake: what is not there yet is given
  bool keeps_late = false;      ///< a mistake: a sample is kept after its task is done
};

class SteppedCache : public SteppedRun {
 public:
  explicit SteppedCache(const CacheScenario& scenario)
      : SteppedRun(scenario, line_of(scenario)), scenario_(scenario) {}

 private:
  static constexpr std::uint64_t kEpochs = 2;
  static constexpr StageNumber kCache = 1;

  static SharedShape line_of(const CacheScenario& scenario) {
    GraphBuilder graph;
    graph.graph().epochs = kEpochs;
    ValidStage& source = graph.producer("source", {support::kPlannedNumber});
    source.samples = scenario.samples;
    source.chunk = 1;
    ValidStage& kept = graph.transform("kept", {"source"}, {support::kPlannedNumber});
    kept.passed = {{support::kPlannedNumber.name, 0}};
    kept.chunk = 1;
    kept.replicas = static_cast<std::uint64_t>(scenario.replicas);
    graph.type_of("kept").contract.cache = true;
    graph.consumer("reader", {"kept"}).chunk = 1;
    return support::planned_shape(graph, {scenario.slots, scenario.slots, 0});
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
    given_.assign(scenario_.slots, kNever);
    finished_.assign(2, std::vector<int>(scenario_.samples * kEpochs));
    seen_.clear();
  }
  void live(StageNumber stage, int replica) override {
    stage == kCache ? cache(replica) : work_in_order(stage);
  }
  std::uint64_t own_state() const override {
    std::uint64_t hash = 0;
    for (std::uint64_t sample = 0; sample < scenario_.samples; ++sample)
      hash = mix(hash, kept_[sample].raw());
    for (const std::uint64_t sample : given_) hash = mix(hash, sample);
    for (const std::uint64_t sample : seen_) hash = mix(hash, sample);
    for (const auto& queue : finished_)
      for (const int times : queue) hash = mix(hash, static_cast<std::uint64_t>(times));
    return hash;
  }

  void work_in_order(StageNumber stage) {
    Channel<P> channel(control_, stage, 0, 0);
    while (const auto task = claim(channel, stage, 0)) {
      if (stage > kCache) {
        fibers_->step();
        if (given_[*task % given_.size()] != sample_of(*task))
          fibers_->fail(concat("slot ", *task, " is not there"));
        seen_.push_back(*task);
      }
      channel.finish(*task);
    }
  }

  void cache(int replica) {
    JoinedQueues<P> queues(control_, kCache, replica);
    std::uint64_t number = 0;
    queues.give_up_to([&] {
      number = std::max(number, queues.at(0).level());
      while (number < scenario_.samples * kEpochs && is_cached(sample_of(number))) ++number;
      return scenario_.gives_uncached ? number + 1 : number;
    });
    while (const auto task = claim(queues, kCache, replica, queues.watched())) {
      fibers_->current().task = 2 * *task + static_cast<std::uint64_t>(queues.queue().value());
      if (queues.queue() == 0) give(*task);
      if (queues.queue() == 1 && !scenario_.keeps_late) keep(*task);
      queues.finish(*task, {});
      if (queues.queue() == 1) keep(*task);
    }
  }
  bool is_cached(std::uint64_t sample) const {
    return kept_[sample].load(std::memory_order_acquire) != 0;
  }
  void keep(std::uint64_t sample) {
    if (!is_cached(sample)) kept_[sample].store(1, std::memory_order_release);
  }
  void give(std::uint64_t number) {
    auto& slot = given_[number % given_.size()];
    slot = kNever;
    fibers_->step();
    if (!is_cached(sample_of(number)))
      fibers_->fail(concat("sample ", sample_of(number), " was given and is not kept"));
    slot = sample_of(number);
  }
  void passed(Fiber& fiber, FaultPoint point) override {
    if (point != FaultPoint::finish_after_done || fiber.stage != kCache) return;
    if (++finished_[fiber.task % 2][fiber.task / 2] != 1)
      fibers_->fail(concat("task ", fiber.task / 2, " was done twice"));
  }

  void check_the_end() override {
    const std::uint64_t given = scenario_.samples * kEpochs;
    if (level(kCache, 0) != given || level(kCache, 1) != scenario_.samples || level(2, 0) != given)
      fibers_->fail("the cache ended early");
    if (seen_.size() != given) fibers_->fail(concat(seen_.size(), " slots came of ", given));
    expect_audit(0, kCache, 1, scenario_.samples);
    expect_audit(kCache, 2, 0, given);
  }

  using Word = P::Atomic<std::uint64_t>;
  const CacheScenario& scenario_;
  std::unique_ptr<Word[]> kept_;            // by sample
  std::vector<std::uint64_t> given_;        // the ring: the sample of each slot
  std::vector<std::vector<int>> finished_;  // by task queue and task
  std::vector<std::uint64_t> seen_;
};

CacheScenario cache(int replicas, StageNumber victim = -1) {
  CacheScenario made;
  made.name = concat(replicas, " replicas");
  made.replicas = replicas;
  made.victim_stage = victim;
  made.detours = victim < 0 ? kEffort.detours : kEffort.detours_around_death;
  return made;
}

class CacheOf : public testing::TestWithParam<int> {};

TEST_P(CacheOf, GivesWhatIsKeptAndWaitsForTheRest) { expect_good(cache(GetParam())); }

TEST_P(CacheOf, WhoeverDies) {
  for (const int victim : {0, 1}) expect_good(cache(GetParam(), StageNumber(victim)));
}

INSTANTIATE_TEST_SUITE_P(Replicas, CacheOf, testing::Values(1, 2));

TEST(CacheNegativeControls, WhatIsNotKeptMustNotBeGiven) {
  CacheScenario made = cache(1);
  made.gives_uncached = true;
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
