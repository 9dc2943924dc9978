// A training loop of one's own: softmax regression on Fashion-MNIST, in plain C++. The graph of
// own_loop.yaml reads, shuffles and augments in processes of its own; this program has the model.
//
//   own_loop own_loop.yaml

#include <algorithm>
#include <cmath>
#include <iostream>
#include <vector>

#include <brigade/pipeline.h>

namespace {

using namespace brigade;  // an example is all about it

constexpr std::size_t kPixels = 28 * 28;
constexpr std::size_t kClasses = 10;
constexpr float kRate = 0.1F;

struct Model {
  std::vector<float> weights = std::vector<float>(kClasses * (kPixels + 1));

  /// Of each class, its probability.
  std::vector<float> predict(const std::uint8_t* pixels) const {
    std::vector<float> out(kClasses);
    for (std::size_t c = 0; c < kClasses; ++c) {
      const float* w = &weights[c * (kPixels + 1)];
      out[c] = w[kPixels];
      for (std::size_t p = 0; p < kPixels; ++p)
        out[c] += w[p] * static_cast<float>(pixels[p]) / 255;
    }
    const float most = *std::max_element(out.begin(), out.end());
    float sum = 0;
    for (float& value : out) sum += value = std::exp(value - most);
    for (float& value : out) value /= sum;
    return out;
  }

  void learn(const Batch& batch) {
    std::vector<float> gradient(weights.size());
    const auto images = batch["image"].as<std::uint8_t>();
    const auto labels = batch["label"].as<std::int64_t>();
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const std::uint8_t* pixels = &images[i * kPixels];
      std::vector<float> error = predict(pixels);
      error[static_cast<std::size_t>(labels[i])] -= 1;
      for (std::size_t c = 0; c < kClasses; ++c) {
        float* g = &gradient[c * (kPixels + 1)];
        g[kPixels] += error[c];
        for (std::size_t p = 0; p < kPixels; ++p)
          g[p] += error[c] * static_cast<float>(pixels[p]) / 255;
      }
    }
    const float step = kRate / static_cast<float>(labels.size());
    for (std::size_t w = 0; w < weights.size(); ++w) weights[w] -= step * gradient[w];
  }

  std::size_t correct(const Batch& batch) const {
    const auto images = batch["image"].as<std::uint8_t>();
    const auto labels = batch["label"].as<std::int64_t>();
    std::size_t correct = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const std::vector<float> out = predict(&images[i * kPixels]);
      correct += std::max_element(out.begin(), out.end()) - out.begin() == labels[i];
    }
    return correct;
  }
};

}  // namespace

int main(int argc, char** argv) {
  const App app(argc, argv);  // first: a worker that is started from this program stays in here
  auto graph = Pipeline::from_file(argc > 1 ? argv[1] : "own_loop.yaml");
  auto run = graph ? graph->quiet().start(app) : Result<std::unique_ptr<Run>>(graph.error());
  if (!run) {
    std::cerr << run.error().message << '\n';
    return 2;
  }
  Model model;
  Output train = (*run)->output("train");
  Output test = (*run)->output("test");
  for (std::uint64_t epoch = 0; !train.ended(); ++epoch) {
    for (const Batch& batch : train.epoch(epoch)) model.learn(batch);
    std::size_t correct = 0;
    std::size_t samples = 0;
    for (const Batch& batch : test.epoch(epoch)) {
      correct += model.correct(batch);
      samples += static_cast<std::size_t>(batch.size());
    }
    if (samples > 0) std::cout << "epoch " << epoch << ": " << correct << " of " << samples << '\n';
  }
  const auto ended = (*run)->wait();  // the loop ends on failure, too
  if (!ended) std::cerr << ended.error().message << '\n';
  return ended ? 0 : 1;
}
