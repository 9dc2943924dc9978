// Hogwild on Fashion-MNIST: several trainers, one set of parameters, no lock. Trains with two
// processes and then with one, and prints how many test images each knows.
//
//   hogwild

#include <brigade/pipeline.h>
#include <brigade/torch.h>
#include <torch/torch.h>

#include <cstdio>
#include <iostream>
#include <optional>

namespace {

using namespace brigade;  // an example is all about it

struct Model : torch::nn::Module {
  torch::nn::Sequential layers{torch::nn::Flatten(), torch::nn::Linear(784, 64), torch::nn::ReLU(),
                               torch::nn::Linear(64, 10)};
  Model() { register_module("layers", layers); }
  at::Tensor forward(const at::Tensor& image) {
    return layers->forward(image.to(at::kFloat).div_(255).sub_(0.3));
  }
};

struct TrainerParams {
  double lr = 0.05;
};

Contract<TrainerParams> trainer_contract() {
  return Contract<TrainerParams>("trainer", "Trains the model that all trainers share.")
      .consumer()
      .takes(Takes::batches)
      .param("lr", &TrainerParams::lr, 0, 1, "learning rate")
      .input("image", {DType::u8}, {28, 28, 1}, "images")
      .input("label", {}, {}, "classes of the images");
}

class Trainer : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    at::set_num_threads(context.threads);
    torch::manual_seed(7);
    model_.emplace();
    BRIGADE_ASSIGN(const SharedTensor weights, context.shared("weights"));
    BRIGADE_TRY(share_parameters(*model_, weights));  // replica 0's go in
    optimizer_.emplace(model_->parameters(), context.params<TrainerParams>().lr);
    return {};
  }
  Result<Next> process(const Inputs& in, Outputs&) override {
    optimizer_->zero_grad();
    const at::Tensor scores = model_->forward(torch_view(in["image"]));
    torch::nn::functional::cross_entropy(scores, torch_view(in["label"]).to(at::kLong)).backward();
    optimizer_->step();  // into the memory of all
    return Next::emit;
  }

 private:
  std::optional<Model> model_;
  std::optional<torch::optim::SGD> optimizer_;
};

/// The share of the test images that the model knows which so many trainers have made.
Result<double> train(const App& app, int replicas) {
  BRIGADE_ASSIGN(Pipeline graph, Pipeline::from_file("hogwild.yaml", {"cpp.yaml"}));
  graph.quiet().set("stages.train.replicas=" + std::to_string(replicas));
  BRIGADE_ASSIGN(const std::unique_ptr<Run> run, graph.start(app));
  BRIGADE_ASSIGN(const SharedTensor weights, run->shared("weights"));
  std::vector<std::pair<at::Tensor, at::Tensor>> test;
  for (const Batch& batch : run->output("test"))
    test.emplace_back(torch_view(batch["image"]).clone(), torch_view(batch["label"]).clone());
  BRIGADE_TRY(run->wait());
  Model model;
  BRIGADE_TRY(share_parameters(model, weights, false));
  const torch::NoGradGuard no_grad;
  std::int64_t known = 0;
  std::int64_t all = 0;
  for (const auto& [image, label] : test) {
    known += model.forward(image).argmax(1).eq(label).sum().item<std::int64_t>();
    all += label.size(0);
  }
  return static_cast<double>(known) / static_cast<double>(all);
}

}  // namespace

int main(int argc, char** argv) {
  StageTypes types;
  types.add<Trainer>(trainer_contract());
  const App app(argc, argv, types);  // first: workers are this program, too, and stay in here
  const auto together = train(app, 2);
  const auto alone = together ? train(app, 1) : together;
  if (!alone) {
    std::cerr << alone.error().message << '\n';
    return 1;
  }
  std::printf("two trainers: %.3f of the test images, one trainer: %.3f\n", *together, *alone);
  return std::min(*together, *alone) > 0.82 && *together > *alone - 0.03 ? 0 : 1;
}
