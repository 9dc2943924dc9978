#include "pipeline/stats/progress.h"

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
            "epoch 2/3  20,000/60,000  1,000 samples/s  data ready 90 %  loss 0.4133  ETA 40.0 s");
}

TEST(Progress, KeepsQuietAboutWhatItDoesNotKnow) {
  TwoLooks looks;
  looks.now.samples_expected = 0;
  EXPECT_EQ(progress_line(looks.plan, looks.before, looks.now, {}),
            "epoch 2/3  20,000  1,000 samples/s  data ready 90 %");
}

TEST(Progress, OfALineThatStandsStillHasNoEta) {
  TwoLooks looks;
  looks.now.samples = looks.before.samples;
  EXPECT_EQ(progress_line(looks.plan, looks.before, looks.now, {}),
            "epoch 2/3  18,000/60,000  0 samples/s  data ready 90 %");
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

}  // namespace
}  // namespace brigade
