#include "pipeline/report/progress.h"
#include "pipeline/report/bottleneck.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

struct TwoLooks {
  Plan plan;
  RunFigures before;
  RunFigures now;

  TwoLooks() {
    plan.epochs = 3;
    StageFigures train;
    train.kind = StageKind::consumer;
    before.stages = {train};
    train.busy_ns = 900;
    train.wait_in_ns = 100;
    now.stages = {train};
    before.samples = 18'000;
    now.samples = 20'000;
    now.samples_expected = 60'000;
    now.now_ns = 2'000'000'000;
    now.epochs = 1;
  }
};

TEST(Progress, SaysHowFarHowFastAndHowLongStill) {
  const TwoLooks looks;
  EXPECT_EQ(progress_line(looks.plan, looks.before, looks.now, {{"loss", 0.4133, true}}),
            "epoch 2/3  20,000/60,000  1,000 samples/s  data ready: 90 %  loss 0.4133  ETA 40.0 s");
}

TEST(Progress, KeepsQuietAboutWhatItDoesNotKnow) {
  TwoLooks looks;
  looks.now.samples_expected = 0;
  EXPECT_EQ(progress_line(looks.plan, looks.before, looks.now, {}),
            "epoch 2/3  20,000  1,000 samples/s  data ready: 90 %");
}

TEST(Progress, OfALineThatStandsStillHasNoEta) {
  TwoLooks looks;
  looks.now.samples = looks.before.samples;
  EXPECT_EQ(progress_line(looks.plan, looks.before, looks.now, {}),
            "epoch 2/3  18,000/60,000  0 samples/s  data ready: 90 %");
}

TEST(Progress, TheLastEpochStaysTheLast) {
  TwoLooks looks;
  looks.now.epochs = 3;
  EXPECT_TRUE(progress_line(looks.plan, looks.before, looks.now, {}).starts_with("epoch 3/3"));
}

TEST(Progress, DataIsReadyWhenNobodyWaited) {
  TwoLooks looks;
  EXPECT_DOUBLE_EQ(data_ready_share(looks.before, looks.now), 0.9);
  EXPECT_DOUBLE_EQ(data_ready_share(looks.now, looks.now), 1);
  looks.now.stages[0].busy_ns = 0;
  EXPECT_DOUBLE_EQ(data_ready_share(looks.before, looks.now), 0);
}

StageFigures stage(const std::string& name, std::uint64_t busy, std::uint64_t in,
                   std::uint64_t out) {
  StageFigures figures;
  figures.name = name;
  figures.busy_ns = busy;
  figures.wait_in_ns = in;
  figures.wait_out_ns = out;
  return figures;
}

TEST(Bottleneck, SharesOfTheTimeAddUpToOne) {
  const StageShares shares = time_shares(stage("a", 50, 25, 25));
  EXPECT_DOUBLE_EQ(shares.busy, 0.5);
  EXPECT_DOUBLE_EQ(shares.wait_in, 0.25);
  EXPECT_DOUBLE_EQ(shares.wait_out, 0.25);
}

TEST(Bottleneck, SharesWithoutTimeAreZero) {
  EXPECT_EQ(time_shares(stage("a", 0, 0, 0)).busy, 0);
  EXPECT_EQ(time_shares(stage("a", 5, 5, 5), stage("a", 5, 5, 5)).busy, 0);
}

TEST(Bottleneck, IsTheStageThatIsBusyWhileItsNeighboursWait) {
  RunFigures now;
  now.stages = {stage("read", 20, 0, 80), stage("decode", 97, 2, 1), stage("train", 40, 60, 0)};
  const auto found = find_bottleneck({}, now);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->stage, 1);
  EXPECT_EQ(bottleneck_text(now, *found),
            "decode (busy 97 %): raising `replicas:` may help (now 1)");
}

TEST(Bottleneck, AStageThatCannotHaveMoreReplicasIsNotToldTo) {
  RunFigures now;
  now.stages = {stage("read", 20, 0, 80), stage("full", 97, 2, 1)};
  now.stages[1].one_replica = true;
  EXPECT_EQ(bottleneck_text(now, *find_bottleneck({}, now)),
            "full (busy 97 %): it can only have one replica: move work to other stages");
}

TEST(Bottleneck, LooksAtTheTimeBetweenTwoMoments) {
  RunFigures before, now;
  before.stages = {stage("read", 1000, 0, 0), stage("train", 0, 1000, 0)};
  now.stages = {stage("read", 1010, 0, 90), stage("train", 95, 1005, 0)};
  EXPECT_EQ(find_bottleneck(before, now)->stage, 1);
}

TEST(Bottleneck, AConsumerThatIsBusyIsTheBestCase) {
  RunFigures now;
  now.stages = {stage("read", 20, 0, 80), stage("train", 99, 1, 0)};
  now.stages[1].kind = StageKind::consumer;
  EXPECT_EQ(bottleneck_text(now, *find_bottleneck({}, now)),
            "train (busy 99 %): the pipeline keeps up");
}

TEST(Bottleneck, IsNoStageThatWasThereForAMoment) {
  RunFigures now;
  now.stages = {stage("read", 20, 0, 0), stage("decode", 90, 5, 5), stage("train", 40, 60, 0)};
  EXPECT_EQ(find_bottleneck({}, now)->stage, 1);
  now.stages[0].busy_ns = 26;
  EXPECT_EQ(find_bottleneck({}, now)->stage, 0);
}

TEST(Bottleneck, AnIdleLineHasNone) {
  RunFigures now;
  now.stages = {stage("read", 5, 95, 0), stage("train", 1, 99, 0)};
  EXPECT_FALSE(find_bottleneck({}, now));
  EXPECT_FALSE(find_bottleneck({}, RunFigures{}));
}

}  // namespace
}  // namespace brigade
