#include "stages/torch/classifier_models.h"
#include "stages/torch/torch_adapter.h"

#include <gtest/gtest.h>
#include <torch/serialize.h>

#include <brigade/harness.h>
#include <brigade/module.h>
#include "tests/support/images/idx_files.h"

extern "C" const brigade::Module* brigade_module_v1();

namespace brigade {
namespace {

using namespace testing_support;

TEST(ClassifierModelsTest, EveryModelGivesAScorePerClassForEveryShape) {
  using Model = TorchClassifierParams::Model;
  for (Model which : {Model::small_cnn, Model::linear, Model::mlp}) {
    for (const Shape& image : {Shape{28, 28, 1}, Shape{4, 7, 3}, Shape{33, 5, 2}}) {
      TorchClassifierParams params;
      params.model = which;
      params.classes = 7;
      const auto model = make_model(params, image);
      const at::Tensor scores = model->forward(at::zeros({2, image[2], image[0], image[1]}));
      EXPECT_EQ(scores.sizes(), at::IntArrayRef({2, 7})) << shape_text(image);
    }
  }
}

TEST(ClassifierModelsTest, EveryParameterLearns) {
  using Model = TorchClassifierParams::Model;
  for (Model which : {Model::small_cnn, Model::linear, Model::mlp}) {
    TorchClassifierParams params;
    params.model = which;
    const auto model = make_model(params, {8, 8, 1});
    model->forward(at::rand({4, 1, 8, 8})).pow(2).sum().backward();
    for (const auto& parameter : model->named_parameters())
      EXPECT_GT(parameter.value().grad().abs().sum().item<float>(), 0) << parameter.key();
  }
}

/// Trains on black images of class 0 and white ones of class 1. What it saves afterwards.
std::string train_black_and_white(const ParamTexts& params) {
  StageType type;
  type.contract = torch_classifier_contract().erased();
  type.make_stage = [] {
    return std::unique_ptr<Stage>(brigade_module_v1()->bodies[0].make_stage());
  };
  const Ports inputs{{"image", u8, {8, 8, 1}}, {"label", i64, {}}};
  const auto stage = StageHarness::open(type, {params, inputs}).value();
  std::vector<std::uint8_t> pixels(2 * 64, 0);
  std::fill(pixels.begin() + 64, pixels.end(), 255);
  const std::vector<std::int64_t> labels{0, 1};
  for (int step = 0; step < 30; ++step)
    EXPECT_TRUE(stage->process_batch(
        {host_tensor("image", Shape{2, 8, 8, 1}, pixels), host_tensor("label", Shape{2}, labels)},
        {{0, 0, 0, 0}, {1, 1, 1, 0}}));
  EXPECT_TRUE(stage->epoch_end(0));
  return stage->save().value();
}

TEST(ClassifierModelsTest, AModelThatIsLoadedFromACheckpointKnowsWhatWasLearned) {
  for (const std::string name : {"small_cnn", "linear", "mlp"}) {
    const ParamTexts texts{{"model", name}, {"classes", "2"}};
    const std::string saved = train_black_and_white(texts);
    torch::serialize::InputArchive archive, weights;
    archive.load_from(saved.data(), saved.size());
    c10::IValue epoch;
    archive.read("epoch", epoch);
    EXPECT_EQ(epoch.toInt(), 1);
    archive.read("model", weights);

    const auto params = make_params(torch_classifier_contract().erased(), texts).value();
    const auto model = make_model(*static_cast<TorchClassifierParams*>(params.get()), {8, 8, 1});
    model->load(weights);
    model->eval();
    for (const int white : {0, 1}) {
      const at::Tensor image = at::full({1, 1, 8, 8}, white == 1 ? 1.0 : -1.0);
      EXPECT_EQ(model->forward(image).argmax(1).item<std::int64_t>(), white) << name;
    }
  }
}

TEST(TorchAdapterTest, AViewIsTheSameMemory) {
  const std::int16_t data[] = {1, 2, 3, 4, 5, 6};
  const Shape shape{2, 3};
  const at::Tensor tensor = torch_view(TensorView(data, i16, shape));
  EXPECT_EQ(tensor.data_ptr(), data);
  EXPECT_EQ(tensor.sizes(), at::IntArrayRef({2, 3}));
  EXPECT_EQ(tensor[1][2].item<std::int16_t>(), 6);
}

TEST(TorchAdapterTest, DTypesHaveTheSameNamesAndSizes) {
  for (DType dtype : {boolean, u8, i8, i16, i32, i64, f16, bf16, f32, f64}) {
    const at::ScalarType type = scalar_type(dtype);
    EXPECT_EQ(c10::elementSize(type), dtype_bytes(dtype)) << dtype_name(dtype);
    EXPECT_EQ(at::isFloatingType(type), dtype >= f16) << dtype_name(dtype);
  }
}

TEST(TorchAdapterTest, ExceptionsBecomeErrorsOfOneLine) {
  const auto result = torch_guarded([]() -> Result<void> {
    (void)at::zeros({2, 3}).matmul(at::zeros({2, 3}));
    return {};
  });
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().message.starts_with("LibTorch: ")) << result.error().message;
  EXPECT_EQ(result.error().message.find('\n'), std::string::npos) << result.error().message;
}

TEST(TorchAdapterTest, ThreadsAndSeedAreSet) {
  ASSERT_TRUE(prepare_torch(2, 7));
  EXPECT_EQ(at::get_num_threads(), 2);
  const at::Tensor first = at::rand({4});
  ASSERT_TRUE(prepare_torch(1, 7));
  EXPECT_EQ(at::get_num_threads(), 1);
  EXPECT_TRUE(at::rand({4}).equal(first));
}

TEST(TorchAdapterTest, AutoTakesWhatIsThere) {
  const bool gpu = torch::cuda::is_available();
  EXPECT_EQ(choose_device("auto", 0, 1)->is_cuda(), gpu);
  EXPECT_TRUE(choose_device("cpu", 0, 1)->is_cpu());
  EXPECT_EQ(choose_device("cuda", 0, 1).ok(), gpu);
  if (!gpu) {
    EXPECT_TRUE(choose_device("cuda", 0, 1)
                    .error()
                    .message.ends_with("; write device: auto to use the CPU without a GPU"));
  }
}

}  // namespace
}  // namespace brigade
