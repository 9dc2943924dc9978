#include "stages/torch/precision.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <limits>

namespace brigade {
namespace {

TEST(AutocastTest, HeavyOperationsRunIn16BitsWhileItLives) {
  const at::Tensor weights = torch::ones({4, 4}, torch::requires_grad());
  const at::Tensor in = torch::ones({2, 4});
  {
    const Autocast autocast(at::kCPU, at::kBFloat16);
    const at::Tensor out = at::matmul(in, weights);
    EXPECT_EQ(out.scalar_type(), at::kBFloat16);
    out.sum().backward();
  }
  EXPECT_EQ(weights.grad().scalar_type(), at::kFloat);
  EXPECT_EQ(at::matmul(in, weights).scalar_type(), at::kFloat);
  const Autocast none(at::kCPU, at::kFloat);
  EXPECT_EQ(at::matmul(in, weights).scalar_type(), at::kFloat);
}

/// A parameter whose gradient is that of scale * sum(factor * parameter).
at::Tensor trained(const LossScale& scale, double factor) {
  const at::Tensor parameter = torch::ones({3}, torch::requires_grad());
  scale.scaled((parameter * factor).sum()).backward();
  return parameter;
}

TEST(LossScaleTest, GradientsAreScaledBackAndTheScaleGrowsWithGoodSteps) {
  LossScale scale;
  scale.on = true;
  const at::Tensor parameter = trained(scale, 3);
  EXPECT_EQ(parameter.grad()[0].item<float>(), 3 * 65536.0F);
  EXPECT_TRUE(scale.unscale({parameter}));
  EXPECT_EQ(parameter.grad()[0].item<float>(), 3.0F);
  scale.good_steps = LossScale::kStepsToDouble - 1;
  EXPECT_TRUE(scale.unscale({trained(scale, 3)}));
  EXPECT_EQ(scale.scale, 2 * 65536.0);
  EXPECT_EQ(scale.good_steps, 0u);
}

TEST(LossScaleTest, GradientsThatDoNotFitAreNotUsedAndHalveTheScale) {
  LossScale scale;
  scale.on = true;
  scale.good_steps = 7;
  for (const double factor :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    EXPECT_FALSE(scale.unscale({trained(scale, 1), trained(scale, factor)}));
  EXPECT_EQ(scale.scale, 65536.0 / 4);
  EXPECT_EQ(scale.good_steps, 0u);
}

TEST(LossScaleTest, SwitchedOffItTouchesNothing) {
  LossScale scale;
  const at::Tensor parameter = trained(scale, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(scale.unscale({parameter}));
  EXPECT_EQ(scale.scale, 65536.0);
}

}  // namespace
}  // namespace brigade
