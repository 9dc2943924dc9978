#include "stages/torch/classifier_models.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

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

}  // namespace
}  // namespace brigade
