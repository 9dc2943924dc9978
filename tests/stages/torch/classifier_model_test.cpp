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
  const auto test_loss = [&] {
    EXPECT_TRUE(feed(*stage, make_batch(50, 100000), "test"));
    EXPECT_TRUE(stage->epoch_end(0, "test"));
    return stage->reports.numbers["test_loss"];
  };
  ASSERT_TRUE(feed(*stage, make_batch(32, 0), "train"));
  const double before = test_loss();
  const auto fed = feed(*stage, make_batch(1, 32), "train");
  ASSERT_TRUE(fed) << fed.error().message;
  EXPECT_NE(test_loss(), before);
  ASSERT_TRUE(feed(*stage, make_batch(32, 64), "train"));  // as ever
}

}  // namespace
}  // namespace brigade
