#include "stages/torch/optimizers.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <brigade/harness.h>

namespace brigade {
namespace {

/// What is left of a weight of 1 after a step with this gradient, lr 0.1 and a decay of 0.5.
double after_a_step(const char* optimizer, double gradient) {
  const auto contract = torch_classifier_contract();
  const auto params =
      testing_support::make_params(
          contract.erased(),
          {{"optimizer", optimizer}, {"lr", "0.1"}, {"momentum", "0.9"}, {"weight_decay", "0.5"}})
          .value();
  const at::Tensor weight = torch::ones({1}, torch::requires_grad());
  weight.mutable_grad() = torch::full({1}, gradient);
  make_optimizer(*static_cast<const TorchClassifierParams*>(params.get()), {weight})->step();
  return weight.item<double>();
}

// A first step of Adam is as long as lr, whatever it follows. The decay is part of what it follows,
// or, of AdamW (Loshchilov and Hutter 2019), lr * decay of the weight go beside it.
TEST(OptimizersTest, DecayIsPartOfTheGradientButOfAdamW) {
  EXPECT_NEAR(after_a_step("sgd", 2), 1 - 0.1 * (2 + 0.5), 1e-6);
  EXPECT_NEAR(after_a_step("adam", 2), 1 - 0.1, 1e-6);
  EXPECT_NEAR(after_a_step("adamw", 2), 1 - 0.1 - 0.1 * 0.5, 1e-6);
}

TEST(OptimizersTest, WithoutAGradientAdamWOnlyDecays) {
  EXPECT_NEAR(after_a_step("adam", 0), 1 - 0.1, 1e-6);
  EXPECT_NEAR(after_a_step("adamw", 0), 1 - 0.1 * 0.5, 1e-6);
}

}  // namespace
}  // namespace brigade
