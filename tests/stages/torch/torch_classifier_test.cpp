// The body of torch_classifier through the module's entry point, without LibTorch's headers.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include <brigade/harness.h>
#include <brigade/module.h>
#include "tests/stages/torch/made_batches.h"
#include "tests/support/file_text.h"
#include "tests/support/message_of.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using namespace testing_support;

class EveryModelTest : public testing::TestWithParam<const char*> {};

TEST_P(EveryModelTest, LearnsAndIsEvaluated) {
  const auto stage =
      open_classifier({{"model", GetParam()}, {"classes", "2"}, {"lr", "0.02"}}, two_sources())
          .value();
  train(*stage, 40);
  ASSERT_TRUE(stage->epoch_end(0, "train"));
  auto numbers = tested(*stage);
  EXPECT_EQ(stage->reports.counts["samples"], 40u * 32 + 50);
  EXPECT_GE(numbers["accuracy"], 0.95);
  EXPECT_LT(numbers["test_loss"], 0.4);
  EXPECT_GT(numbers["train_accuracy"], 0.7);
  const auto& lines = stage->reports.lines;
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0].starts_with("epoch 1: accuracy ")) << lines[0];
  // Tests teach nothing.
  EXPECT_EQ(tested(*stage)["test_loss"], numbers["test_loss"]);
  ASSERT_TRUE(stage->close());
}

INSTANTIATE_TEST_SUITE_P(All, EveryModelTest,
                         testing::Values("small_cnn", "linear", "mlp", "resnet18"),
                         [](const auto& model) { return std::string(model.param); });

TEST(TorchClassifierTest, ReportsHowWellItKnowsEachClassThatHasAName) {
  const ParamTexts params{{"classes", "2"}, {"names", "[dark, bright]"}};
  const auto stage = open_classifier(params, two_sources()).value();
  ASSERT_TRUE(feed(*stage, make_batch(64, 0), "train"));
  ASSERT_TRUE(stage->epoch_end(0, "train"));
  ASSERT_TRUE(feed(*stage, make_batch(50, 1000), "test"));
  const std::string saved = stage->save().value();
  EXPECT_NE(saved.find("bright"), saved.npos) << "the checkpoint has the names";
  ASSERT_TRUE(stage->epoch_end(0, "test"));
  auto& numbers = stage->reports.numbers;
  const MadeBatch tested = make_batch(50, 1000);
  const auto labels = tested.tensors[1].as<std::int64_t>();
  const auto bright = static_cast<double>(std::count(labels.begin(), labels.end(), 1));
  EXPECT_NEAR(numbers["accuracy"] * 50,
              numbers["accuracy of dark"] * (50 - bright) + numbers["accuracy of bright"] * bright,
              1e-9);
  OpenContext context;
  context.saved = saved;
  const auto resumed = open_classifier(params, two_sources(), context).value();
  ASSERT_TRUE(resumed->epoch_end(0, "test"));
  EXPECT_EQ(resumed->reports.numbers["accuracy of dark"], numbers["accuracy of dark"]);
}

TEST(TorchClassifierTest, OfManyClassesTheLeastAccurateAreNamed) {
  ParamTexts params{{"classes", "21"}, {"names", "[dark, bright]"}};
  const auto stage = open_classifier(params, two_sources()).value();
  ASSERT_TRUE(feed(*stage, make_batch(50, 1000), "test"));
  ASSERT_TRUE(stage->epoch_end(0, "test"));
  ASSERT_EQ(stage->reports.lines.size(), 2u);
  EXPECT_TRUE(stage->reports.lines[1].starts_with("epoch 1: least accurate: "))
      << stage->reports.lines[1];
  EXPECT_EQ(stage->reports.numbers.count("accuracy of dark"), 0u);
}

TEST(TorchClassifierTest, ASingleSourceTrainsWhateverItsName) {
  const auto stage =
      open_classifier({{"classes", "2"}, {"optimizer", "adam"}, {"lr", "0.001"}}, one_source())
          .value();
  ASSERT_TRUE(feed(*stage, make_batch(32, 0), "test"));
  const double first = stage->reports.numbers["loss"];
  train(*stage, 29, 1, "test");
  EXPECT_LT(stage->reports.numbers["loss"], first);
  ASSERT_TRUE(stage->epoch_end(0, "test"));
  EXPECT_TRUE(stage->reports.lines.at(0).starts_with("epoch 1: loss ")) << stage->reports.lines[0];
}

TEST(TorchClassifierTest, TwoRunsHaveTheSameBitsAndAnotherSeedHasOthers) {
  const TemporaryFolder folder;
  const auto curve = [&](std::uint64_t seed) {
    const std::string path = folder / "loss.csv";
    OpenContext context;
    context.seed = seed;
    const auto stage =
        open_classifier({{"classes", "2"}, {"loss_file", path}}, one_source(), context).value();
    train(*stage, 10, 0, "");
    EXPECT_TRUE(stage->epoch_end(0));
    return file_text(path);
  };
  const std::string first = curve(7);
  EXPECT_EQ(split(first, '\n').size(), 12u);
  EXPECT_TRUE(first.starts_with("epoch,step,loss\n1,1,0.")) << first;
  EXPECT_EQ(curve(7), first);
  EXPECT_NE(curve(8), first);
}

TEST(TorchClassifierTest, TheLearningRateFallsToZeroAtTheEndOfTheLastEpoch) {
  // Whether a batch at the very end changes what the model says about a fixed one.
  const auto learns_at_the_end = [](const char* schedule) {
    OpenContext context;
    context.epochs = 3;
    const ParamTexts params = {{"classes", "2"}, {"model", "linear"}, {"schedule", schedule}};
    const auto stage = open_classifier(params, two_sources(), context).value();
    const auto test_loss = [&] { return tested(*stage)["test_loss"]; };
    const double fresh = test_loss();
    EXPECT_TRUE(feed(*stage, make_batch(32, 0, 0), "train"));
    EXPECT_TRUE(stage->epoch_end(0, "train"));
    const double before = test_loss();
    EXPECT_NE(before, fresh);
    MadeBatch last = make_batch(32, 0, 2);
    for (SampleInfo& info : last.infos) info.index = 32;
    EXPECT_TRUE(feed(*stage, last, "train"));
    return test_loss() != before;
  };
  EXPECT_FALSE(learns_at_the_end("cosine"));
  EXPECT_TRUE(learns_at_the_end("constant"));
}

TEST(TorchClassifierTest, TakesFloatsShortBatchesAndEmptyOnes) {
  const Ports floats{{"image", f32, {8, 9, 3}}, kLabel};
  const auto stage = open_classifier({{"classes", "2"}}, floats).value();
  const auto images = [](std::int64_t slots) {
    return host_tensor("image", {slots, 8, 9, 3},
                       std::vector<float>(static_cast<std::size_t>(slots * 216), 0.25f));
  };
  for (std::int64_t slots : {4, 1, 0}) {
    const auto label = host_tensor("label", {slots},
                                   std::vector<std::int64_t>(static_cast<std::size_t>(slots), 1));
    ASSERT_TRUE(feed(*stage, {{images(slots), label},
                              std::vector<SampleInfo>(static_cast<std::size_t>(slots))}));
  }
  EXPECT_EQ(stage->reports.counts["samples"], 5u);
}

TEST(TorchClassifierTest, NeverWritesToItsInput) {
  const auto stage = classifier_type().make_stage();
  const auto params = classifier_type().contract.make_params();
  RecordingReporter reports;
  OpenContext context;
  context.params_data = params.get();
  context.params_type = classifier_type().contract.params_type;
  context.reporter = &reports;
  for (DType dtype : {u8, f32}) {
    context.inputs = {{"image", dtype, {8, 9, 1}}, kLabel};
    ASSERT_TRUE(stage->open(context));
    constexpr std::size_t kBytes = 1 << 20;
    void* memory = mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto* data = static_cast<std::byte*>(memory);
    Frame frame;
    frame.batched = true;
    frame.samples = 4;
    const SampleInfo infos[4];
    frame.infos = infos;
    const Shape shape{4, 8, 9, 1};
    frame.fields.push_back({"image", dtype, false, shape, shape, {8, 9, 1}, {8, 9, 1}, data, 0});
    frame.fields.push_back({"label", i64, false, {4}, {4}, {}, {}, data + kBytes / 2, 8});
    Frame none;
    Outputs out(none);
    EXPECT_TRUE(stage->process(Inputs(frame), out));  // a write would be a segmentation fault
    munmap(memory, kBytes);
  }
}

TEST(TorchClassifierTest, PicturesOfEveryOrderAndNumberAreTheSamePictures) {
  const auto loss_of = [](const TensorType& image, const HostTensor& pictures, ParamTexts params) {
    params.insert(params.end(), {{"classes", "2"}, {"lr", "0.01"}});
    const auto stage = open_classifier(std::move(params), {image, kLabel}).value();
    MadeBatch batch = make_batch(8, 0);
    batch.tensors[0] = pictures;
    EXPECT_TRUE(feed(*stage, std::move(batch)));
    return stage->reports.numbers.at("loss");
  };
  std::vector<float> hwc, chw;
  std::vector<Half> halves;
  std::vector<BFloat16> short_floats;
  const auto value = [](int b, int pixel, int c) { return (pixel * 7 + c * 3 + b) % 5 > 2; };
  for (int b = 0; b < 8; ++b)
    for (int at = 0; at < 8 * 9 * 3; ++at) {  // 0 and 1, which all of these types have
      const bool one = value(b, at / 3, at % 3);
      hwc.push_back(one ? 1 : 0);
      chw.push_back(value(b, at % 72, at / 72) ? 1 : 0);
      halves.push_back({static_cast<std::uint16_t>(one ? 0x3c00 : 0)});
      short_floats.push_back({static_cast<std::uint16_t>(one ? 0x3f80 : 0)});
    }
  const Shape behind{8, 8, 9, 3};
  const HostTensor floats = host_tensor("image", behind, hwc);
  const double expected = loss_of({"image", f32, {8, 9, 3}}, floats, {});
  const double others[] = {
      loss_of({"image", f32, {3, 8, 9}}, host_tensor("image", {8, 3, 8, 9}, chw), {}),
      loss_of({"image", f32, {8, 9, 3}}, floats, {{"layout", "HWC"}}),
      loss_of({"image", f16, {8, 9, 3}}, host_tensor("image", behind, halves), {}),
      loss_of({"image", bf16, {8, 9, 3}}, host_tensor("image", behind, short_floats), {})};
  for (const double other : others) EXPECT_NEAR(other, expected, 1e-5);
  const double other = loss_of({"image", f32, {8, 9, 3}}, host_tensor("image", behind, chw), {});
  EXPECT_GT(std::abs(other - expected), 1e-5) << "the control";
}

TEST(TorchClassifierTest, ALossThatExplodesIsAnError) {
  const auto stage =
      open_classifier({{"classes", "2"}, {"lr", "1000"}, {"model", "mlp"}}, one_source()).value();
  std::string error;
  for (std::uint64_t step = 0; step < 200 && error.empty(); ++step)
    if (auto fed = feed(*stage, make_batch(32, step * 32)); !fed) error = fed.error().message;
  EXPECT_NE(error.find("(epoch 1); try a smaller lr, found 1000"), std::string::npos) << error;
}

TEST(TorchClassifierTest, WhatItCannotDoIsSaidAtTheStart) {
  const auto error = [](const Ports& inputs, const OpenContext& context = {},
                        const ParamTexts& params = {}) {
    return message_of(open_classifier(params, inputs, context));
  };
  Ports wrong_name = two_sources(), wrong_shape = two_sources();
  wrong_name.tensors[2].name = "valid.image";
  wrong_shape.tensors[2].shape[0] = 9;
  EXPECT_EQ(error(wrong_name),
            "several sources must be named train and test, found \"valid\"; write from: {train: "
            "..., test: ...} and join: epochs");
  EXPECT_EQ(error(wrong_shape),
            "train and test need images of the same shape, found [8, 9, 3] and [9, 9, 3]");
  OpenContext two;
  two.replicas = 2;
  EXPECT_EQ(error(one_source(), two),
            "trains one model in one process and needs replicas: 1, found 2");
  OpenContext device;
  device.device = "cuda:4095";
  EXPECT_TRUE(error(one_source(), device).starts_with("device cuda:4095: "));
  device.device = "tpu";
  EXPECT_EQ(error(one_source(), device), "device tpu: expected auto, cpu, cuda or cuda:N");
  device.device = "auto";
  EXPECT_EQ(error(one_source(), device), "no error");
  EXPECT_EQ(error(one_source(), {}, {{"loss_file", "/nowhere/loss.csv"}}),
            "loss_file: cannot write /nowhere/loss.csv: No such file or directory");
  OpenContext resumed;
  resumed.saved = "no archive";
  EXPECT_NE(error(one_source(), resumed), "no error");
  const std::string saved =
      open_classifier({{"model", "linear"}}, one_source()).value()->save().value();
  EXPECT_TRUE(saved.starts_with("PK")) << "a zip archive, as torch.jit.load expects";
  resumed.saved = saved;
  EXPECT_NE(error(one_source(), resumed, {{"model", "mlp"}}), "no error");
  EXPECT_EQ(error(one_source(), resumed, {{"model", "linear"}}), "no error");
}

/// Some steps, then what it has reported. (What it saves has addresses in it.)
std::map<std::string, double> go_on(StageHarness& stage) {
  EXPECT_TRUE(feed(stage, make_batch(32, 64, 1), "train"));
  EXPECT_TRUE(feed(stage, make_batch(32, 96, 1), "train"));
  EXPECT_TRUE(stage.epoch_end(1, "train"));
  EXPECT_TRUE(feed(stage, make_batch(32, 0, 1), "test"));
  EXPECT_TRUE(stage.epoch_end(1, "test"));
  return stage.reports.numbers;
}

TEST(TorchClassifierTest, GoesOnFromWhatItHasSavedToTheBit) {
  for (const char* optimizer : {"sgd", "adam", "adamw"}) {
    const TemporaryFolder folder;
    const std::string losses = folder / "loss.csv";
    const ParamTexts params{{"classes", "2"},
                            {"optimizer", optimizer},
                            {"loss_file", losses},
                            {"warmup_steps", "5"},
                            {"weight_decay", "0.01"}};
    OpenContext context;
    context.epochs = 3;
    std::string saved;
    std::map<std::string, double> expected;
    std::string expected_losses;
    {
      const auto stage = open_classifier(params, two_sources(), context).value();
      ASSERT_TRUE(feed(*stage, make_batch(32, 0), "train"));
      ASSERT_TRUE(stage->epoch_end(0, "train"));
      ASSERT_TRUE(feed(*stage, make_batch(32, 0), "test"));
      ASSERT_TRUE(stage->epoch_end(0, "test"));
      ASSERT_TRUE(feed(*stage, make_batch(32, 32, 1), "train"));  // in the middle of an epoch
      saved = stage->save().value();
      expected = go_on(*stage);
      expected_losses = file_text(losses);
    }
    context.saved = saved;
    const auto stage = open_classifier(params, two_sources(), context).value();
    EXPECT_EQ(go_on(*stage), expected) << optimizer;
    EXPECT_EQ(file_text(losses), expected_losses) << "what came after the checkpoint is cut off";
  }
}

TEST(TorchClassifierTest, BeginsWithTheWeightsOfACheckpoint) {
  const TemporaryFolder folder;
  const std::string path = folder / "model.pt";
  const auto first = open_classifier({{"classes", "2"}}, two_sources()).value();
  train(*first, 30);
  std::ofstream(path, std::ios::binary) << first->save().value();
  const auto test_loss = [](ParamTexts params) {
    OpenContext context;
    context.seed = 5;  // another head than the one that `first` began with
    const auto stage = open_classifier(std::move(params), two_sources(), context).value();
    return tested(*stage).at("test_loss");
  };
  EXPECT_LT(test_loss({{"classes", "2"}, {"weights", path}}), 0.4);
  EXPECT_GT(test_loss({{"classes", "2"}}), 0.4) << "the control";
  EXPECT_GT(test_loss({{"classes", "2"}, {"weights", path}, {"new_head", "true"}}), 0.4);
  const auto other = open_classifier({{"classes", "3"}, {"weights", path}}, two_sources());
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("last.weight is [2, 128] in the file, but [3, 128] in the "
                                       "model; write `new_head: true`"),
            std::string::npos)
      << other.error().message;
  EXPECT_TRUE(
      open_classifier({{"classes", "3"}, {"weights", path}, {"new_head", "true"}}, two_sources()));
}

TEST(TorchClassifierTest, SavingLeavesTheReportedLossAsItIs) {
  for (const bool with_test : {false, true}) {
    const auto stage =
        open_classifier({{"classes", "2"}}, with_test ? two_sources() : one_source()).value();
    ASSERT_TRUE(feed(*stage, make_batch(32, 0), "train"));
    ASSERT_TRUE(stage->epoch_end(0, "train"));
    if (with_test) tested(*stage);
    const double loss = stage->reports.numbers.at("loss");
    EXPECT_GT(loss, 0);
    ASSERT_TRUE(stage->save());
    EXPECT_EQ(stage->reports.numbers.at("loss"), loss);
  }
}

}  // namespace
}  // namespace brigade
