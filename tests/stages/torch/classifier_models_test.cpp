#include "stages/torch/classifier_models.h"
#include "stages/torch/torch_adapter.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(ClassifierModelsTest, EveryModelGivesAScorePerClassForEveryShapeAndEveryParameterLearns) {
  using Model = TorchClassifierParams::Model;
  for (Model which : {Model::small_cnn, Model::linear, Model::mlp})
    for (const Shape& image : {Shape{28, 28, 1}, Shape{4, 7, 3}, Shape{33, 5, 2}}) {
      TorchClassifierParams params;
      params.model = which;
      params.classes = 7;
      const auto model = make_model(params, image);
      const at::Tensor scores = model->forward(at::rand({4, image[2], image[0], image[1]}));
      EXPECT_EQ(scores.sizes(), at::IntArrayRef({4, 7})) << shape_text(image);
      scores.pow(2).sum().backward();
      for (const auto& parameter : model->named_parameters())
        EXPECT_GT(parameter.value().grad().abs().sum().item<float>(), 0) << parameter.key();
    }
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
