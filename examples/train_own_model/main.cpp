// A model of one's own in LibTorch, trained on Fashion-MNIST. The graph of train_own_model.yaml
// reads, shuffles and augments in processes of its own; the tensors here are its memory.
//
//   train_own_model train_own_model.yaml

#include <brigade/pipeline.h>
#include <brigade/torch.h>
#include <torch/torch.h>

#include <cmath>
#include <iostream>
#include <optional>

namespace {

using namespace brigade;  // an example is all about it

constexpr double kAccuracyMin = 0.88;

struct Net : torch::nn::Module {
  torch::nn::Sequential layers{torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 8, 3).padding(1)),
                               torch::nn::ReLU(),
                               torch::nn::MaxPool2d(2),
                               torch::nn::Conv2d(torch::nn::Conv2dOptions(8, 32, 3).padding(1)),
                               torch::nn::ReLU(),
                               torch::nn::MaxPool2d(2),
                               torch::nn::Flatten(),
                               torch::nn::Linear(32 * 7 * 7, 64),
                               torch::nn::ReLU(),
                               torch::nn::Linear(64, 10)};

  Net() { register_module("layers", layers); }

  /// [B, 28, 28, 1] bytes -> [B, 10]
  at::Tensor forward(const Batch& batch) {
    const at::Tensor pixels = to_torch(batch, "image");
    return layers->forward(pixels.permute({0, 3, 1, 2}).to(at::kFloat).div_(255).sub_(0.5));
  }
};

/// Of the test images of this epoch, how many it knows; nothing where there is no such epoch.
std::optional<double> test(Net& net, Output& output, std::uint64_t epoch) {
  const torch::NoGradGuard no_grad;
  std::int64_t correct = 0;
  std::int64_t samples = 0;
  for (const Batch& batch : output.epoch(epoch)) {
    const at::Tensor found = net.forward(batch).argmax(1);
    correct += found.eq(to_torch(batch, "label")).sum().item<std::int64_t>();
    samples += batch.size();
  }
  if (samples == 0) return std::nullopt;
  return static_cast<double>(correct) / static_cast<double>(samples);
}

}  // namespace

int main(int argc, char** argv) {
  const App app(argc, argv);  // first: a worker that is started from this program stays in here
  auto graph = Pipeline::from_file(argc > 1 ? argv[1] : "train_own_model.yaml");
  auto run = graph ? graph->quiet().start(app) : Result<std::unique_ptr<Run>>(graph.error());
  if (!run) {
    std::cerr << run.error().message << '\n';
    return 2;
  }
  torch::manual_seed(7);
  Net net;
  torch::optim::Adam optimizer(net.parameters());
  torch::optim::OptimizerOptions& options = optimizer.param_groups()[0].options();
  Output train = (*run)->output("train");
  Output test_images = (*run)->output("test");
  double accuracy = 0;
  for (std::uint64_t epoch = 0; !train.ended(); ++epoch) {
    options.set_lr(2e-3 * std::pow(0.4, epoch));
    for (const Batch& batch : train.epoch(epoch)) {
      optimizer.zero_grad();
      at::nll_loss(at::log_softmax(net.forward(batch), 1), to_torch(batch, "label")).backward();
      optimizer.step();
    }
    const auto tested = test(net, test_images, epoch);
    if (!tested) break;
    accuracy = *tested;
    std::cout << "epoch " << epoch << ": " << accuracy << " of the test images\n";
  }
  const auto ended = (*run)->wait();  // the loop ends on failure, too
  if (!ended) std::cerr << ended.error().message << '\n';
  if (accuracy < kAccuracyMin) std::cerr << "expected at least " << kAccuracyMin << '\n';
  return ended && accuracy >= kAccuracyMin ? 0 : 1;
}
