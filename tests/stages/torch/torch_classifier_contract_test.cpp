#include "stages/torch/torch_classifier_contract.h"

#include <gtest/gtest.h>

#include <brigade/harness.h>

namespace brigade {
namespace {

using namespace testing_support;

TEST(TorchClassifierContractTest, LooksOnlyAtBatchesAndKeepsState) {
  const auto contract = torch_classifier_contract();
  EXPECT_EQ(contract.erased().takes, Takes::batches);
  EXPECT_TRUE(contract.erased().stateful);
  EXPECT_TRUE(contract.erased().several_inputs);
}

}  // namespace
}  // namespace brigade
