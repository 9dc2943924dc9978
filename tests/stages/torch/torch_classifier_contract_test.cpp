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
  EXPECT_EQ(check({{"model", "small_cnn"}, {"layout", "CHW"}}, 28, 28),
            "model small_cnn needs images of at least 8 x 8 pixels, found image u8[28, 28, 1]; use "
            "larger images, or model linear or mlp");
}

TEST(TorchClassifierContractTest, ThereAreNoMoreNamesThanClasses) {
  EXPECT_EQ(check({{"classes", "2"}, {"names", "[cat, dog]"}}, 28, 28), "fits");
  EXPECT_EQ(check({{"classes", "2"}, {"names", "[cat, dog, emu]"}}, 28, 28),
            "names has 3 entries, with `classes: 2` at most 2");
}

TEST(TorchClassifierContractTest, WhatPicturesBecomeIsChecked) {
  EXPECT_EQ(check({{"pad", "2"}, {"crop", "32"}, {"mean", "[0.4]"}}, 28, 28), "fits");
  EXPECT_EQ(check({{"pad", "1"}, {"crop", "32"}}, 28, 28),
            "a cut of 32 x 32 does not fit into the padded picture of 30 x 30 pixels");
  EXPECT_EQ(check({{"mean", "[0.4, 0.5]"}}, 28, 28),
            "mean has 2 numbers, the picture has 1 channels; one number stands for all");
  EXPECT_EQ(check({{"crop", "6"}}, 28, 28).substr(0, 61),
            "model small_cnn needs images of at least 8 x 8 pixels, found ");
  const auto contract = torch_classifier_contract();
  const auto params = make_params(contract.erased(), {{"flip", "0.5"}}).value();
  const auto ports = contract.erased().outputs(
      params.get(), {{"image", f32, {28, 28, 1}}, {"label", i64, {}}}, {});
  ASSERT_FALSE(ports);
  EXPECT_EQ(ports.error().message,
            "pad, crop, flip, mean and std are for u8 images, found image f32[28, 28, 1]; leave "
            "them to the stage before");
}

TEST(TorchClassifierContractTest, LabelsAreNumbersOrSharesOfAllClasses) {
  const auto contract = torch_classifier_contract();
  const auto params = make_params(contract.erased(), {{"classes", "10"}}).value();
  const auto fits = [&](const TensorType& label) {
    const auto ports =
        contract.erased().outputs(params.get(), {{"image", u8, {28, 28, 1}}, label}, {});
    return ports ? "fits" : ports.error().message;
  };
  EXPECT_EQ(fits({"label", i64, {}}), "fits");
  EXPECT_EQ(fits({"label", f32, {10}}), "fits");
  EXPECT_EQ(fits({"label", f32, {11}}),
            "with `classes: 10` a label is a number, or 10 shares, found label f32[11]");
  EXPECT_EQ(fits({"label", f32, {up_to(10)}}),
            "with `classes: 10` a label is a number, or 10 shares, found label f32[<=10]");
}

TEST(TorchClassifierContractTest, AScriptIsAnArchive) {
  const auto contract = torch_classifier_contract();
  const auto params =
      make_params(contract.erased(), {{"torchscript", "net.pt"}, {"train", "false"}}).value();
  const auto of_header = [&](const char* header) {
    FileMetadata files;
    files.files.push_back({"torchscript", {header, 100}});
    const Ports in{{"image", u8, {4, 4, 3}}, {"label", i64, {}}};  // too small for small_cnn
    const auto ports = contract.erased().outputs(params.get(), in, files);
    return ports ? "fits" : ports.error().message;
  };
  EXPECT_EQ(of_header("PK\3\4"), "fits");
  EXPECT_EQ(of_header("def forward"),
            "torchscript: that is no TorchScript; expected what Python's "
            "torch.jit.save(torch.jit.script(model), FILE) has written");
  EXPECT_EQ(check({{"train", "false"}}, 28, 28),
            "with `train: false` a model is evaluated as it is: name `weights: FILE` or "
            "`torchscript: FILE`");
}

TEST(TorchClassifierContractTest, WhereChannelsAreMustBeKnown) {
  EXPECT_EQ(check({}, 1, 28),
            "whether channels come first or last does not follow from image u8[1, 28, 1]; say "
            "`layout: CHW` or `layout: HWC`");
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
