#include "stages/torch/classifier_model.h"

#include <gtest/gtest.h>

#include "tests/stages/torch/made_batches.h"

namespace brigade {
namespace {

using namespace testing_support;

TEST(ClassifierModelTest, ALastBatchOfOneSmallPictureIsLearned) {
  const auto stage =
      open_classifier({{"classes", "2"}, {"model", "resnet18"}, {"lr", "0.02"}}, two_sources())
          .value();
  train(*stage, 1);
  const double before = tested(*stage)["test_loss"];
  const auto fed = feed(*stage, make_batch(1, 32), "train");
  ASSERT_TRUE(fed) << fed.error().message;
  EXPECT_NE(tested(*stage)["test_loss"], before);
  train(*stage, 1, 2);  // as ever
}

}  // namespace
}  // namespace brigade
