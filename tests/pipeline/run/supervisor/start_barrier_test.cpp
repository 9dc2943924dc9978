#include "pipeline/run/supervisor/start_barrier.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

PlanStage stage(const std::string& name, int replicas, int first) {
  PlanStage stage;
  stage.name = name;
  stage.kind = StageKind::producer;
  stage.replicas = replicas;
  stage.first_replica = first;
  return stage;
}

// Two sources of one index space (zipped), two replicas each, and a reader.
Plan zipped() {
  Plan plan;
  plan.epochs = 3;
  plan.replicas = 5;
  plan.stages = {stage("images", 2, 0), stage("masks", 2, 2), stage("train", 1, 4)};
  plan.stages[StageNumber{2}].kind = StageKind::consumer;
  plan.index_spaces = {{{0, 1}, 64}};
  return plan;
}

void all_ready(StartBarrier& barrier, std::vector<std::uint64_t> sizes) {
  for (int r = 0; r < 4; ++r) barrier.ready(r, sizes[r]);
  barrier.ready(4, std::nullopt);
}

TEST(StartBarrier, IsCompleteWhenEverybodyIsReady) {
  const Plan plan = zipped();
  StartBarrier barrier(plan);
  for (int r : {4, 0, 1, 2, 2}) barrier.ready(r, 100);
  EXPECT_FALSE(barrier.complete());
  EXPECT_EQ(barrier.waiting_for(), "masks.1");
  barrier.ready(3, 100);
  EXPECT_TRUE(barrier.complete());
}

TEST(StartBarrier, OneReplicaOfATransformIsEnough) {
  for (const StageKind kind : {StageKind::transform, StageKind::consumer}) {
    Plan plan = zipped();
    plan.stages[StageNumber{2}].kind = kind;
    plan.stages[StageNumber{2}].replicas = 3;
    plan.replicas = 7;
    StartBarrier barrier(plan);
    all_ready(barrier, {100, 100, 100, 100});
    EXPECT_EQ(barrier.complete(), kind == StageKind::transform);
    EXPECT_EQ(barrier.waiting_for(), kind == StageKind::transform ? "" : "train.1, train.2");
    barrier.gone(5);
    barrier.ready(6, std::nullopt);
    EXPECT_TRUE(barrier.complete());
  }
}

TEST(StartBarrier, ATransformWithoutReplicasIsNotWaitedFor) {
  Plan plan;
  plan.stages = {stage("resize", 2, 0)};
  plan.stages[StageNumber{0}].kind = StageKind::transform;
  StartBarrier barrier(plan);
  barrier.gone(0);
  EXPECT_EQ(barrier.waiting_for(), "resize.1");
  barrier.gone(1);
  EXPECT_TRUE(barrier.complete());
}

TEST(StartBarrier, RoundsAnEpochUpToTheMultiple) {
  const Plan plan = zipped();
  StartBarrier barrier(plan);
  all_ready(barrier, {100, 100, 100, 100});
  const auto starts = barrier.starts();
  ASSERT_TRUE(starts.ok());
  EXPECT_EQ(*starts, (std::vector<IndexSpaceStart>{{0, 100, 128}}));
}

std::string mistake(std::vector<std::uint64_t> sizes, const Plan& plan = zipped()) {
  StartBarrier barrier(plan);
  all_ready(barrier, std::move(sizes));
  const auto starts = barrier.starts();
  return starts.ok() ? "" : starts.error().message;
}

TEST(StartBarrier, ReplicasOfASourceMustAgree) {
  EXPECT_EQ(mistake({100, 99, 100, 100}),
            "replicas of one source must find the same samples: images.0 found 100 samples, "
            "images.1 found 99 samples; its files must not change while the run starts");
}

TEST(StartBarrier, ZippedSourcesMustAgree) {
  EXPECT_EQ(mistake({100, 100, 1, 1}),
            "zipped sources need equal sizes: \"images\" has 100 samples, \"masks\" has 1 sample; "
            "shorten the larger one with `limit: N` and `take: first`");
}

/// What is said where the sources have found so many, and give 100.
std::string zipped_of(const Plan& plan, std::uint64_t images, std::uint64_t masks) {
  StartBarrier barrier(plan);
  for (int r = 0; r < 4; ++r) barrier.ready(r, 100, r < 2 ? images : masks);
  barrier.ready(4, std::nullopt);
  const auto starts = barrier.starts();
  return starts.ok() ? "" : starts.error().message;
}

TEST(StartBarrier, ZippedSourcesOfUnequalSizeShareAFrontOnly) {
  Plan plan = zipped();
  for (PlanStage& stage : plan.stages) stage.limit = 100;
  EXPECT_EQ(zipped_of(plan, 1000, 1010),
            "zipped sources read different samples: \"images\" and \"masks\" have 1,000 samples "
            "and 1,010 samples to select from, so the selected pairs would not match; make the "
            "sources equally large, or read the first samples of each: `limit: N` with `take: "
            "first`, without `split:`");
  EXPECT_EQ(zipped_of(plan, 1000, 1000), "");
  for (PlanStage& stage : plan.stages) stage.take = Take::first;
  EXPECT_EQ(zipped_of(plan, 1000, 1010), "") << "the front of both is one";
  for (PlanStage& stage : plan.stages) stage.split.shares = {{"a", kWholeShare / 2}};
  EXPECT_NE(zipped_of(plan, 1000, 1010), "") << "a part of both is not";
}

TEST(StartBarrier, AnEmptySourceIsAnError) {
  EXPECT_EQ(mistake({0, 0, 0, 0}), "source \"images\" has no samples; check its `params:`");
}

TEST(StartBarrier, MoreNumbersThanCanBeCountedAreAnError) {
  const std::uint64_t many = std::uint64_t{1} << 47;
  EXPECT_NE(mistake({many, many, many, many}).find("lower `epochs:`"), std::string::npos);
}

TEST(StartBarrier, SourcesThatDoNotKnowTheirSizeHaveNoEndYet) {
  const Plan plan = zipped();
  StartBarrier barrier(plan);
  for (int r = 0; r < 5; ++r) barrier.ready(r, std::nullopt);
  EXPECT_TRUE(barrier.starts()->empty());
}

TEST(StartBarrier, NamesAFewOfThoseItWaitsFor) {
  Plan plan;
  plan.stages = {stage("a", 7, 0)};
  EXPECT_EQ(StartBarrier(plan).waiting_for(), "a.0, a.1, a.2, a.3 and 3 more");
}

TEST(StartBarrier, ADerivedIndexSpaceFollowsTheOneAboveIt) {
  Plan plan = zipped();
  plan.index_spaces.push_back({{0, 1}, 192, 0, 3});
  StartBarrier barrier(plan);
  EXPECT_FALSE(barrier.start_so_far(1));
  all_ready(barrier, {100, 100, 100, 100});
  EXPECT_EQ(*barrier.starts(), (std::vector<IndexSpaceStart>{{0, 100, 128}}));
  EXPECT_EQ(barrier.start_so_far(1), (IndexSpaceStart{1, 300, 384}));
}

TEST(StartBarrier, NumbersOfADerivedIndexSpaceMustFitToo) {
  Plan plan = zipped();
  plan.epochs = 1;
  const std::uint64_t samples = std::uint64_t{1} << 36;
  EXPECT_EQ(mistake({samples, samples, samples, samples}, plan), "");
  plan.index_spaces.push_back({{0, 1}, 64 << 12, 0, 1 << 12});
  EXPECT_EQ(mistake({samples, samples, samples, samples}, plan),
            "source \"masks\" has 68,719,476,736 samples, which over 1 epochs, times 4096, exceed "
            "the limit of 2^48; lower `epochs:`");
}

/// images (two replicas) -> kept, a cache with room for `slots` -> train.
Plan cached(std::uint64_t slots, std::uint64_t limit = 0) {
  Plan plan;
  plan.epochs = 3;
  plan.replicas = 4;
  plan.stages = {stage("images", 2, 0), stage("kept", 1, 2), stage("train", 1, 3)};
  plan.stages[1].cache.slots = slots;
  plan.stages[1].limit = limit;
  plan.stages[1].queues.resize(2);
  plan.stages[1].queues[0].index_space = 1;
  plan.index_spaces = {{{0}, 64, -1, 1, 1}, {{1}, 50}};
  return plan;
}

Result<std::vector<IndexSpaceStart>> starts_of(const Plan& plan) {
  StartBarrier barrier(plan);
  barrier.ready(0, 100);
  barrier.ready(1, 100);
  barrier.ready(2, std::nullopt);
  barrier.ready(3, std::nullopt);
  EXPECT_EQ(barrier.start_so_far(1)->samples,
            barrier.starts().ok() ? barrier.starts()->at(1).samples : 100);
  return barrier.starts();
}

TEST(StartBarrier, ACacheHasWhatItsSourceHas) {
  const Plan plan = cached(100);
  EXPECT_EQ(*starts_of(plan), (std::vector<IndexSpaceStart>{{0, 100, 128}, {1, 100, 100}}));
  EXPECT_EQ(index_space_epochs(plan, 0), 1u);
  EXPECT_EQ(index_space_epochs(plan, 1), 3u);
}

TEST(StartBarrier, ALimitOfACacheCutsIt) {
  EXPECT_EQ(starts_of(cached(70, 70))->at(1), (IndexSpaceStart{1, 70, 100}));
}

TEST(StartBarrier, ACacheMustHaveRoom) {
  const auto starts = starts_of(cached(99));
  ASSERT_FALSE(starts.ok());
  EXPECT_EQ(starts.error().message,
            "the cache \"kept\" has room for 99 samples, but its source has 100 samples; write "
            "`samples: 100` into its `params:`, or store fewer with `limit:`");
}

}  // namespace
}  // namespace brigade
