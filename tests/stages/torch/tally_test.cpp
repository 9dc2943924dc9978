// How torch_classifier trains, seen by what it reports.

#include <gtest/gtest.h>

#include <cmath>

#include "tests/stages/torch/made_batches.h"

namespace brigade {
namespace {

using namespace testing_support;

/// The loss on a fixed batch after so many steps on another.
double loss_after(int steps, ParamTexts params, OpenContext context = {}) {
  params.emplace_back("classes", "2");
  params.emplace_back("model", "linear");
  context.epochs = 1;
  const auto stage = open_classifier(params, two_sources(), context).value();
  for (int step = 0; step < steps; ++step) EXPECT_TRUE(feed(*stage, make_batch(32, 0), "train"));
  return tested(*stage)["test_loss"];
}

TEST(TorchClassifierTest, TheLearningRateRisesInItsFirstSteps) {
  const double untrained = loss_after(0, {});
  const double trained = loss_after(1, {});
  EXPECT_GT(std::abs(trained - untrained), 1e-3) << "the control";
  // The first of a million steps has a millionth of the rate, the second of two all of it.
  EXPECT_NEAR(loss_after(1, {{"warmup_steps", "1000000"}}), untrained, 1e-5);
  EXPECT_NEAR(loss_after(1, {{"warmup_steps", "2"}}), loss_after(1, {{"lr", "0.025"}}), 1e-6);
  EXPECT_EQ(loss_after(1, {{"warmup_steps", "1"}}), trained);
}

TEST(TorchClassifierTest, GradientsAreCutToTheirNorm) {
  const double untrained = loss_after(0, {});
  EXPECT_NEAR(loss_after(1, {{"clip_norm", "0.000001"}}), untrained, 1e-5);
  EXPECT_EQ(loss_after(1, {{"clip_norm", "100000"}}), loss_after(1, {}));
}

TEST(TorchClassifierTest, SmoothedLabelsKeepTheLossUp) {
  const auto training_loss = [](const char* smoothing) {
    const ParamTexts params = {
        {"classes", "2"}, {"model", "linear"}, {"label_smoothing", smoothing}};
    const auto stage = open_classifier(params, two_sources()).value();
    for (int step = 0; step < 60; ++step) EXPECT_TRUE(feed(*stage, make_batch(32, 0), "train"));
    EXPECT_TRUE(stage->epoch_end(0, "train"));
    EXPECT_TRUE(feed(*stage, make_batch(32, 0), "test"));
    EXPECT_TRUE(stage->epoch_end(0, "test"));
    EXPECT_GT(stage->reports.numbers["accuracy"], 0.95);
    return stage->reports.numbers["loss"];
  };
  // Half of a label is spread over both classes: 3/4 and 1/4, whose entropy is 0.562.
  EXPECT_GT(training_loss("0.5"), 0.562);
  EXPECT_LT(training_loss("0"), 0.3);
}

TEST(TorchClassifierTest, TheFiveBestScoresCountOfMoreClasses) {
  const auto reports = [](const char* classes, int steps) {
    const ParamTexts params = {{"classes", classes}, {"model", "linear"}, {"lr", "0.003"}};
    const auto stage = open_classifier(params, two_sources()).value();
    for (int step = 0; step < steps; ++step) EXPECT_TRUE(feed(*stage, make_batch(64, 0), "train"));
    EXPECT_TRUE(feed(*stage, make_batch(64, 0), "test"));
    EXPECT_TRUE(stage->epoch_end(0, "test"));
    return stage->reports.numbers;
  };
  EXPECT_FALSE(reports("20", 0).contains("accuracy_top5"));
  EXPECT_LT(reports("21", 0)["accuracy_top5"], 0.5);
  // The two classes that there are soon have the best scores, before they are told apart.
  bool near_first = false;
  std::map<std::string, double> trained;
  for (int steps = 1; steps < 8; ++steps) {
    trained = reports("21", steps);
    near_first |= trained["accuracy_top5"] > trained["accuracy"];
  }
  EXPECT_TRUE(near_first);
  EXPECT_EQ(trained["accuracy_top5"], 1);
}

}  // namespace
}  // namespace brigade
