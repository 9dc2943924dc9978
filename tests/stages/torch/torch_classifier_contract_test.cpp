#include "stages/torch/torch_classifier_contract.h"

#include <gtest/gtest.h>

#include <brigade/harness.h>

namespace brigade {
namespace {

using namespace testing_support;

std::string check(const ParamTexts& texts, const Dim& height, const Dim& width) {
  const auto contract = torch_classifier_contract();
  const auto params = make_params(contract.erased(), texts).value();
  const Ports in{{"image", u8, {height, width, 1}}, {"label", i64, {}}};
  const auto ports = contract.erased().outputs(params.get(), in, {});
  return ports ? "fits" : ports.error().message;
}

TEST(TorchClassifierContractTest, AModelThatDoesNotFitTheImagesIsFoundByTheCheck) {
  EXPECT_EQ(check({{"model", "small_cnn"}}, 28, 28), "fits");
  EXPECT_EQ(check({{"model", "small_cnn"}}, 8, 9), "fits");
  EXPECT_EQ(check({{"model", "small_cnn"}}, 28, 7),
            "model small_cnn needs images of at least 8 x 8 pixels, found image u8[28, 7, 1]; use "
            "larger images, or model linear or mlp");
  EXPECT_EQ(check({{"model", "linear"}}, 28, 3), "fits");
  EXPECT_EQ(check({{"model", "mlp"}}, 1, 1), "fits");
}

TEST(TorchClassifierContractTest, ParametersThatContradictEachOtherAreRefused) {
  EXPECT_EQ(check({{"new_head", "true"}}, 28, 28),
            "new_head: true is for training that begins with `weights: FILE`");
  EXPECT_EQ(check({{"label_smoothing", "1"}}, 28, 28),
            "with label_smoothing: 1 all classes are equally right; 0.1 is usual");
}

TEST(TorchClassifierContractTest, RaggedImagesAreRefused) {
  EXPECT_EQ(check({}, up_to(64), 28),
            "expected images of one size, found image u8[<=64, 28, 1]; resize them before");
}

TEST(TorchClassifierContractTest, LooksOnlyAtBatchesAndKeepsState) {
  const auto contract = torch_classifier_contract();
  EXPECT_EQ(contract.erased().takes, Takes::batches);
  EXPECT_TRUE(contract.erased().stateful);
  EXPECT_TRUE(contract.erased().several_inputs);
}

TEST(TorchClassifierContractTest, ParametersThatMakeNoSenseAreRefused) {
  const auto contract = torch_classifier_contract();
  const auto error = [&](const char* name, const char* text) {
    return make_params(contract.erased(), {{name, text}}).error().message;
  };
  EXPECT_EQ(error("lr", "-1"), "lr: expected a number from 0 to 1000, found \"-1\"");
  EXPECT_EQ(error("classes", "1"),
            "classes: expected a whole number from 2 to 1048576, found \"1\"");
  EXPECT_EQ(error("model", "resnet"),
            "model: expected one of small_cnn, linear, mlp, resnet18, resnet50, found \"resnet\"");
}

}  // namespace
}  // namespace brigade
