#include "stages/torch/residual_network.h"

#include <torch/utils.h>

#include "stages/torch/weights_file.h"
#include "tests/stages/torch/torchvision_files.h"

namespace brigade {
namespace {

using namespace testing_support;

constexpr std::int64_t kClasses = 7;  // of the files

std::int64_t count_parameters(const torch::nn::Module& model) {
  std::int64_t count = 0;
  for (const at::Tensor& parameter : model.parameters()) count += parameter.numel();
  return count;
}

TEST(ResidualNetwork, HasAsManyParametersAsTorchvisions) {
  EXPECT_EQ(count_parameters(*make_resnet18(3, 1000)), 11'689'512);
  EXPECT_EQ(count_parameters(*make_resnet50(3, 1000)), 25'557'032);
}

TEST(ResidualNetwork, NamesItsParametersAsTorchvisionDoes) {
  const auto model = make_resnet18(3, kClasses);
  const auto names = model->named_parameters();
  for (const char* name : {"conv1.weight", "bn1.bias", "layer1.0.conv1.weight", "layer1.0.bn2.bias",
                           "layer2.0.downsample.0.weight", "layer2.0.downsample.1.weight",
                           "layer4.1.conv2.weight", "fc.weight", "fc.bias"})
    EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_TRUE(model->named_buffers().contains("layer3.0.downsample.1.running_var"));
  EXPECT_FALSE(names.contains("layer1.0.downsample.0.weight"));
}

using TorchvisionsNetwork = TorchvisionFilesTest;

TEST_F(TorchvisionsNetwork, GivesTheScoresOfTorchvisionWithItsWeights) {
  const auto expect_equal = [&](const std::string& name, ResidualNetwork& model) {
    const std::string scores = concat(folder, "/", name, ".scores");
    const at::Tensor images = tensor_of(scores, "images");
    model.eval();
    const torch::NoGradGuard no_gradients;
    const at::Tensor expected = tensor_of(scores, "scores");
    EXPECT_FALSE(at::allclose(model.forward(images), expected, 0, 1e-4)) << "the control";
    const auto loaded =
        load_weights(model, concat(folder, "/", name, ".pt"), WeightsFor::all_layers);
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(*loaded, model.parameters().size() + model.buffers().size());
    EXPECT_TRUE(at::allclose(model.forward(images), expected, 0, 1e-4)) << name;
  };
  expect_equal("resnet18", *make_resnet18(3, kClasses));
  expect_equal("resnet50", *make_resnet50(3, kClasses));
}

TEST_F(TorchvisionsNetwork, BeginsWithTheParametersOfTorchvision) {
  const auto expect_equal = [&](const std::string& name, const ResidualNetwork& model) {
    const auto fresh = tensors_of(concat(folder, "/", name, ".fresh"));
    for (const auto& parameter : model.named_parameters())
      EXPECT_TRUE(parameter.value().equal(fresh.at(parameter.key()).toTensor()))
          << name << " " << parameter.key();
  };
  torch::manual_seed(7);
  expect_equal("resnet18", *make_resnet18(3, kClasses));
  torch::manual_seed(7);
  expect_equal("resnet50", *make_resnet50(3, kClasses));
}

TEST(ResidualNetwork, EveryParameterLearnsFromPicturesOfAnySize) {
  for (const std::int64_t side : {32, 47}) {
    const auto model = make_resnet18(1, 3);
    model->forward(at::rand({4, 1, side, side + 8})).pow(2).sum().backward();
    for (const auto& parameter : model->named_parameters())
      EXPECT_GT(parameter.value().grad().abs().sum().item<float>(), 0) << parameter.key();
  }
}

}  // namespace
}  // namespace brigade
