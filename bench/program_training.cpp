// What torch_classifier does with configs/fashion_mnist.yaml, in a program's own loop: the same
// model, optimizer, batches and order. Prints a line of JSON: what torch_classifier reports of the
// last epoch (bench/program.py compares them). And the run's summary.
//
//   program_training GRAPH EPOCHS LIMIT      LIMIT 0: all samples

#include <torch/optim/sgd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numbers>
#include <string>

#include <brigade/pipeline.h>
#include <brigade/text.h>
#include "stages/torch/classifier_models.h"
#include "stages/torch/torch_adapter.h"

namespace brigade {
namespace {

constexpr int kThreads = 1;  // `threads:` and `seed:` as that graph has them
constexpr std::uint64_t kSeed = 7;
constexpr double kRate = 0.05;
constexpr double kMomentum = 0.9;
const Shape kImage{28, 28, 1};

/// Over the batches of one epoch.
struct Tally {
  double loss = 0;
  std::int64_t hits = 0;
  std::int64_t samples = 0;

  void add(const at::Tensor& mean_loss, const at::Tensor& scores, const at::Tensor& labels) {
    loss += mean_loss.item<float>() * static_cast<double>(labels.size(0));
    hits += (scores.argmax(1) == labels).sum().item<std::int64_t>();
    samples += labels.size(0);
  }
  double mean_loss() const { return loss / static_cast<double>(samples); }
  double accuracy() const { return static_cast<double>(hits) / static_cast<double>(samples); }
};

at::Tensor images_of(const Batch& batch) {
  return torch_view(batch["image"]).permute({0, 3, 1, 2}).to(at::kFloat).mul_(2.0 / 255).sub_(1);
}

class Training {
 public:
  explicit Training(int epochs) : epochs_(epochs) {}

  void train(const Batch& batch) {
    begin_epoch(batch.sample(0));
    model_->train();
    optimizer_.zero_grad();
    const at::Tensor labels = torch_view(batch["label"]);
    const at::Tensor scores = model_->forward(images_of(batch));
    const at::Tensor loss = at::cross_entropy_loss(scores, labels);
    loss.backward();
    optimizer_.step();
    train_.add(loss.detach(), scores.detach(), labels);
  }

  void test(const Batch& batch) {
    const at::NoGradGuard no_gradients;
    if (batch.sample(0).index == 0) test_ = {};
    model_->eval();
    const at::Tensor labels = torch_view(batch["label"]);
    const at::Tensor scores = model_->forward(images_of(batch));
    test_.add(at::cross_entropy_loss(scores, labels), scores, labels);
  }

  void print() const {
    std::printf(
        "{\"samples\": %lld, \"loss\": %.17g, \"train_accuracy\": %.17g, "
        "\"test_loss\": %.17g, \"accuracy\": %.17g}\n",
        static_cast<long long>(epochs_ * (train_.samples + test_.samples)), train_.mean_loss(),
        train_.accuracy(), test_.mean_loss(), test_.accuracy());
  }

 private:
  /// At its first batch; and the cosine of torch_classifier, from the second epoch on.
  void begin_epoch(const SampleInfo& first) {
    if (first.index == 0 && first.epoch > 0) epoch_samples_ = static_cast<double>(train_.samples);
    if (first.index == 0) train_ = {};
    if (first.epoch == 0) return;
    const double done = static_cast<double>(first.index) / epoch_samples_;
    const double share = (first.epoch - 1 + std::min(done, 1.0)) / (epochs_ - 1);
    const double rate = kRate * 0.5 * (1 + std::cos(std::numbers::pi * std::min(share, 1.0)));
    for (auto& group : optimizer_.param_groups()) group.options().set_lr(rate);
  }

  const int epochs_;
  std::shared_ptr<ClassifierModel> model_ = make_model({}, kImage);
  torch::optim::SGD optimizer_{model_->parameters(),
                               torch::optim::SGDOptions(kRate).momentum(kMomentum)};
  double epoch_samples_ = 0;
  Tally train_;
  Tally test_;
};

Result<void> run(const App& app, const std::string& path, int epochs, std::uint64_t limit) {
  auto pipeline = Pipeline::from_file(path);
  if (!pipeline) return pipeline.error();
  pipeline->set(concat("epochs=", epochs)).read({"train"}).quiet();
  if (limit > 0) pipeline->limit(limit);
  // Before the run begins, as torch_classifier opens before it: a graph that runs is looped over.
  BRIGADE_TRY(prepare_torch(kThreads, kSeed));
  Training training(epochs);
  auto run = pipeline->start(app);
  if (!run) return run.error();
  for (const Batch& batch : (*run)->output("train"))
    batch.source() == "test" ? training.test(batch) : training.train(batch);
  BRIGADE_TRY((*run)->wait());
  training.print();
  std::printf("%s\n", (*run)->summary_json()->c_str());
  return {};
}

}  // namespace
}  // namespace brigade

int main(int argc, char** argv) {
  const brigade::App app(argc, argv);
  if (argc != 4) return std::fputs("program_training GRAPH EPOCHS LIMIT\n", stderr), 2;
  const auto done = brigade::run(app, argv[1], std::atoi(argv[2]),
                                 static_cast<std::uint64_t>(std::atoll(argv[3])));
  if (!done) return std::fprintf(stderr, "%s\n", done.error().message.c_str()), 1;
  return 0;
}
