#include "pipeline/worker/replica/cache_progress.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "pipeline/records/cache_slots.h"
#include "pipeline/worker/replica/work.h"
#include "tests/support/number_line.h"
#include "transports/joined_queues.h"

namespace brigade {
namespace {

using namespace support;

constexpr std::uint64_t kSamples = 100;
constexpr std::uint64_t kCachedTask = 20;

/// numbers (100 samples, in tasks of 20) -> kept -> sink, two epochs, one after the other in this
/// thread: `numbers` is written by hand, `kept` by its own work.
class CachedLine : public testing::Test {
 protected:
  CachedLine() {
    graph_.graph().epochs = 2;
    ValidStage& numbers = graph_.producer("numbers", {kValue, kWords});
    numbers.samples = kSamples;
    numbers.chunk = kCachedTask;
    ValidStage& kept = graph_.transform("kept", {"numbers"}, {kValue, kWords});
    kept.passed = {{"value", 0}, {"words", 0}};
    kept.chunk = kCachedTask;
    kept.shuffle = true;
    graph_.type_of("kept").contract.cache = true;
    graph_.consumer("sink", {"kept"}).chunk = kCachedTask;
    run_.emplace(graph_);
    work_ = make_cache_work(run_->context("kept"));
    cached_slots_.emplace(run_->stage("kept"), run_->ring("kept"));
    up_to_.emplace(run_->context("kept"));
  }

  /// The next task of the source; `empty_slots` are indices.
  void produce(const std::vector<std::uint64_t>& empty_slots = {}) {
    Channel<SystemPolicy> source(run_->control(), run_->index("numbers"), 0, 0);
    const auto claim = source.try_claim();
    ASSERT_EQ(claim.look, Look::claimed);
    const SlotRing& ring = run_->ring("numbers");
    for (std::uint64_t n = claim.task * kCachedTask; n < (claim.task + 1) * kCachedTask; ++n) {
      *ring.headers(n) = {{n, n, n, 0}, SlotState::full};
      *reinterpret_cast<std::int64_t*>(ring.slot(0, n)) = static_cast<std::int64_t>(n) * 10;
      *reinterpret_cast<std::int64_t*>(ring.slot(2, n)) = static_cast<std::int64_t>(n % 3);
      *ring.slot(1, n) = static_cast<std::byte>(n);
      for (const std::uint64_t empty : empty_slots)
        if (n == empty) ring.headers(n)->state = SlotState::empty;
    }
    source.finish(claim.task);
  }
  /// Claims and works like a replica.
  Attempt<SystemPolicy> step(JoinedQueues<SystemPolicy>& queues) {
    const auto claim = queues.try_claim();
    if (claim.look != Look::claimed) return claim;
    const auto done = work_->work(queues.queue(), claim.task * kCachedTask);
    EXPECT_TRUE(done.ok());
    queues.finish(claim.task, done->not_full);
    return claim;
  }
  JoinedQueues<SystemPolicy> queues() {
    JoinedQueues<SystemPolicy> queues(run_->control(), run_->index("kept"), 0);
    queues.give_up_to([this] { return (*up_to_)(); });
    return queues;
  }
  void begin() {
    set_end(run_->control(), 0, kSamples, kSamples, 1);
    set_end(run_->control(), 1, kSamples, kSamples, 2);
  }
  std::uint64_t given() { return run_->queue("kept", 0).watermark->level.value; }

  static inline const TensorType kWords{"words", u8, {up_to(2)}};
  GraphBuilder graph_;
  std::optional<RunLine> run_;
  std::unique_ptr<Work> work_;
  std::optional<CacheSlots> cached_slots_;
  std::optional<CacheProgress> up_to_;
};

class Cached : public CachedLine {};

TEST_F(Cached, GivesNothingBeforeTheRunHasBegun) {
  JoinedQueues<SystemPolicy> queues = this->queues();
  produce();
  EXPECT_EQ(step(queues).look, Look::claimed);
  EXPECT_EQ(queues.queue(), 1);
  const auto waits = queues.try_claim();
  EXPECT_EQ(waits.look, Look::blocked);
  EXPECT_EQ(given(), 0u);
  for (std::uint64_t slot = 0; slot < kSamples; ++slot)
    EXPECT_EQ(cached_slots_->state(slot), slot < kCachedTask ? SlotState::full : SlotState::pad)
        << slot;
}

TEST_F(Cached, NorWhenItIsFullBeforeTheRunHasBegun) {
  set_end(run_->control(), 0, kSamples, kSamples, 1);  // that of its own index space comes next
  JoinedQueues<SystemPolicy> queues = this->queues();
  for (int task = 0; task < 5; ++task) {
    produce();
    ASSERT_EQ(step(queues).look, Look::claimed);
    ASSERT_EQ(queues.queue(), 1);
  }
  EXPECT_EQ(queues.try_claim().look, Look::blocked);
  begin();
  EXPECT_EQ(step(queues).look, Look::claimed);
  EXPECT_EQ(queues.queue(), 0);
}

TEST_F(Cached, ASlotThatIsThereIsNotWrittenAgain) {
  begin();
  produce();
  ASSERT_TRUE(work_->work(1, 0).ok());
  auto* value = reinterpret_cast<std::int64_t*>(run_->ring("numbers").slot(0, 3));
  *value = 4711;
  const auto again = work_->work(1, 0);  // as after a death before it was finished
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->full, kCachedTask);
  EXPECT_EQ(*reinterpret_cast<const std::int64_t*>(cached_slots_->slot(0, 3)), 30);
}

TEST_F(Cached, ASlotIsThereOnlyWhenAllOfItIs) {
  begin();
  produce();
  auto* torn = reinterpret_cast<std::int64_t*>(cached_slots_->slot(0, 3));
  *torn = 1234;  // by a replica that died before it said that the slot is there
  EXPECT_EQ(cached_slots_->state(3), SlotState::pad);
  ASSERT_TRUE(work_->work(1, 0).ok());
  EXPECT_EQ(*torn, 30);
  EXPECT_EQ(cached_slots_->state(3), SlotState::full);
}

TEST_F(Cached, AStopIsAcknowledgedWhileItGoesOnKeeping) {
  begin();
  JoinedQueues<SystemPolicy> queues = this->queues();
  produce();
  ask_stop(run_->control());
  EXPECT_EQ(step(queues).look, Look::claimed);
  EXPECT_EQ(queues.queue(), 1);
  EXPECT_EQ(run_->context("kept").replica_words().ack.value, 1u);
}

TEST(CacheSlotsOfRanks, AreWhereThisRankHasReadThem) {
  Plan plan;
  const SlotHeader header{{9, 5, 42, 0}, SlotState::full};
  EXPECT_EQ(cache_slot_of(plan, header), 42u);
  EXPECT_EQ(cached_id(plan, 42), 42u);
  plan.shard = {1, 4, Uneven::pad};
  EXPECT_EQ(cache_slot_of(plan, header), 5u);
  EXPECT_EQ(cached_id(plan, 5), 21u) << "no other rank has it";
}

class Kept : public CachedLine {
 protected:
  void keep(std::uint64_t task) {
    produce();
    ASSERT_TRUE(work_->work(1, task * kCachedTask).ok());
  }
  /// The first number of epoch 0 whose sample is not among the first `kept`.
  static std::uint64_t first_missing(std::uint64_t kept) {
    const Permutation order(kSamples, 0, 0);
    std::uint64_t number = 0;
    while (number < kSamples && order(number) < kept) ++number;
    return number;
  }
};

TEST_F(Kept, IsNothingBeforeTheRunHasBegun) {
  keep(0);
  EXPECT_EQ((*up_to_)(), 0u);
}

TEST_F(Kept, IsWhatComesBeforeTheFirstSampleThatIsNotThere) {
  begin();
  EXPECT_EQ((*up_to_)(), 0u);
  for (std::uint64_t task = 0; task < 4; ++task) {
    keep(task);
    EXPECT_EQ((*up_to_)(), first_missing((task + 1) * kCachedTask)) << task;
  }
  EXPECT_GT(first_missing(4 * kCachedTask), 0u) << "this test can fail";
}

TEST_F(Kept, GoesNoFurtherThanAnybodyCanClaim) {
  set_end(run_->control(), 0, kSamples, kSamples, 1);
  set_end(run_->control(), 1, kSamples, kSamples, 1'000'000);
  for (std::uint64_t task = 0; task < 5; ++task) keep(task);
  EXPECT_EQ((*up_to_)(), 2 * run_->stage("kept").ring.slots);
}

TEST_F(Kept, BeginsAtTheWatermarkAfterARestart) {
  begin();
  run_->queue("kept", 0).watermark->level.value =
      2 * kCachedTask;  // these have been given, and so were there
  EXPECT_EQ((*up_to_)(), 2 * kCachedTask);
}

}  // namespace
}  // namespace brigade
