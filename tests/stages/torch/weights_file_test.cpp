#include "stages/torch/weights_file.h"

#include <torch/nn/modules/linear.h>

#include "stages/torch/residual_network.h"
#include "tests/stages/torch/torchvision_files.h"

namespace brigade {
namespace {

using namespace testing_support;

using WeightsFile = TorchvisionFilesTest;

std::string problem(torch::nn::Module& model, const std::string& path,
                    WeightsFor which = WeightsFor::all_layers) {
  const auto loaded = load_weights(model, path, which);
  return loaded ? "none" : loaded.error().message;
}

TEST_F(WeightsFile, IsReadInEveryFormThatPythonWrites) {
  const at::Tensor expected = tensor_of(folder + "/resnet18.pt", "layer4.1.bn2.running_var");
  for (const char* name : {"resnet18.pt", "in_a_dict.pt", "prefix.pt", "scripted.pt"}) {
    const auto model = make_resnet18(3, 7);
    EXPECT_EQ(problem(*model, concat(folder, "/", name)), "none") << name;
    EXPECT_TRUE(model->named_buffers()["layer4.1.bn2.running_var"].equal(expected)) << name;
  }
  for (const char* name : {"ordered.pt", "text.pt", "no_tensors.pt"}) {
    const std::string said = problem(*make_resnet18(3, 7), concat(folder, "/", name));
    EXPECT_TRUE(
        said.ends_with("; write it in Python with torch.save(dict(model.state_dict()), FILE) or "
                       "torch.jit.save, or use a checkpoint of torch_classifier"))
        << said;
  }
}

TEST_F(WeightsFile, ThatDoesNotFitIsSaidAndChangesNothing) {
  const std::string path = folder + "/resnet18.pt";
  const auto model = make_resnet18(3, 10);
  const at::Tensor first = model->parameters()[0].clone();
  const at::Tensor head = model->parameters().back().clone();
  EXPECT_EQ(problem(*model, path),
            path +
                ": fc.weight is [7, 512] in the file, but [10, 512] in the model; write `new_head: "
                "true` to train a new last layer, or the `classes:` that the file was trained for");
  EXPECT_TRUE(model->parameters()[0].equal(first));
  EXPECT_EQ(problem(*model, path, WeightsFor::all_but_the_last), "none");
  EXPECT_FALSE(model->parameters()[0].equal(first));
  EXPECT_TRUE(model->parameters().back().equal(head));
}

TEST_F(WeightsFile, OfAnotherModelNamesATensor) {
  const std::string path = folder + "/resnet50.pt";
  EXPECT_EQ(problem(*make_resnet18(3, 7), path),
            path +
                ": layer1.0.conv1.weight is [64, 64, 1, 1] in the file, but [64, 64, 3, 3] in "
                "the model; choose the `model:` that the file was trained with");
  torch::nn::Linear linear(2, 3);
  EXPECT_EQ(problem(*linear, path),
            path + " has no weight; choose the `model:` that the file was trained with");
  const auto more = make_resnet18(3, 7);
  more->register_parameter("more", at::zeros({1}));
  EXPECT_EQ(
      problem(*more, folder + "/resnet18.pt"),
      folder + "/resnet18.pt has no more; choose the `model:` that the file was trained with");
}

}  // namespace
}  // namespace brigade
