#include "stages/torch/labels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/stages/torch/made_batches.h"

namespace brigade {
namespace {

using namespace testing_support;

TEST(LabelsTest, OutOfRangeNameTheirSample) {
  const auto stage = open_classifier({{"classes", "2"}}, one_source()).value();
  MadeBatch batch = make_batch(4, 100);
  batch.tensors[1] = host_tensor<std::int64_t>("label", {4}, {0, 1, 2, 0});
  EXPECT_EQ(feed(*stage, batch).error().message,
            "sample 102 has label 2; with classes: 2 labels must be 0 to 1");
  batch.tensors[1] = host_tensor<std::int64_t>("label", {4}, {0, 1, 1, -1});
  EXPECT_EQ(feed(*stage, batch).error().message,
            "sample 103 has label -1; with classes: 2 labels must be 0 to 1");
  EXPECT_EQ(stage->reports.counts["samples"], 0u);
}

TEST(LabelsTest, SharesThatAreNoneNameTheirSample) {
  const auto stage = open_classifier({{"classes", "2"}}, {kImage, {"label", f32, {2}}}).value();
  MadeBatch batch = make_batch(3, 100);
  const auto said = [&](float first, float second) {
    batch.tensors[1] = host_tensor<float>("label", {3, 2}, {0.25F, 0.75F, first, second, 1, 0});
    const auto fed = feed(*stage, batch);
    return fed ? "fits" : fed.error().message;
  };
  EXPECT_EQ(said(1, 1),
            "sample 101 has a label with shares that add up to 2, smallest: 1; shares must be 0 or "
            "more and add up to 1");
  EXPECT_NE(said(1.5F, -0.5F).find("add up to 1, smallest: -0.5;"), std::string::npos);
  EXPECT_NE(said(0, 0).find("add up to 0,"), std::string::npos);
  EXPECT_NE(said(NAN, 1).find("add up to nan,"), std::string::npos);
  EXPECT_EQ(said(0.999F, 0), "fits");
}

/// The images as they come, with labels as shares of two classes.
MadeBatch with_shares(MadeBatch batch, float right) {
  std::vector<float> shares;
  for (const std::int64_t label : batch.tensors[1].as<std::int64_t>())
    for (const std::int64_t each : {0, 1}) shares.push_back(label == each ? right : 1 - right);
  batch.tensors[1] =
      host_tensor("label", {static_cast<std::int64_t>(shares.size()) / 2, 2}, shares);
  return batch;
}

TEST(LabelsTest, SharesAreLearnedAsSmoothedNumbersAre) {
  const auto numbers_of = [](bool shares, const char* smoothing) {
    Ports inputs = two_sources();
    if (shares) inputs.tensors[1] = {"train.label", f32, {2}};
    const auto stage =
        open_classifier({{"classes", "2"}, {"model", "linear"}, {"label_smoothing", smoothing}},
                        inputs)
            .value();
    for (std::uint64_t step = 0; step < 20; ++step) {
      MadeBatch batch = make_batch(32, step * 32);
      if (shares) batch = with_shares(std::move(batch), 0.9F);  // of two classes, 0.2 for both
      EXPECT_TRUE(feed(*stage, std::move(batch), "train"));
    }
    EXPECT_TRUE(stage->epoch_end(0, "train"));
    return tested(*stage);
  };
  auto shares = numbers_of(true, "0");
  auto smoothed = numbers_of(false, "0.2");
  EXPECT_NEAR(shares["loss"], smoothed["loss"], 1e-4);
  EXPECT_NEAR(shares["test_loss"], smoothed["test_loss"], 1e-4);
  EXPECT_EQ(shares["train_accuracy"], smoothed["train_accuracy"]);
  EXPECT_EQ(shares["accuracy"], smoothed["accuracy"]);
  EXPECT_GT(std::abs(shares["loss"] - numbers_of(false, "0")["loss"]), 1e-3) << "the control";
}

}  // namespace
}  // namespace brigade
