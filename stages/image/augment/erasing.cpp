// random_erasing (Zhong, Zheng, Kang, Li, Yang: "Random Erasing Data Augmentation", AAAI 2020),
// with the choice of the box as torchvision makes it.

#include <cmath>

#include <brigade/text.h>
#include "stages/image/augment/operation.h"

namespace brigade {
namespace {

class RandomErasing : public Operation {
 public:
  struct Params {
    double p = 0.5;
    std::vector<double> scale = {0.02, 0.33};
    std::vector<double> ratio = {0.3, 3.3};
    std::vector<std::int64_t> value = {0};
    Result<void> check() const {
      for (const auto* range : {&scale, &ratio})
        if (range->size() != 2 || (*range)[0] > (*range)[1])
          return Error{
              "expected a lower and an upper limit for scale and ratio, such as [0.02, 0.33]"};
      if (!value.empty()) return {};
      return Error{"expected one level for value, [0], or one for each channel"};
    }
  };
  explicit RandomErasing(const Params& params) : params_(params) {}
  Result<void> accepts(std::int64_t channels) const override {
    if (params_.value.size() == 1 || static_cast<std::int64_t>(params_.value.size()) == channels)
      return {};
    return Error{concat("value has a level for each of ", params_.value.size(),
                        " channels, the image has ", channels)};
  }
  bool draws() const override { return params_.p > 0; }
  void run(Canvas& canvas, Philox& random) override {
    if (!happens(random, params_.p)) return;
    const auto [height, width] = canvas.size();
    const double low = std::log(params_.ratio[0]);
    const double high = std::log(params_.ratio[1]);
    for (int i = 0; i < kTries; ++i) {
      const double area = static_cast<double>(canvas.size().pixels()) *
                          random.uniform(params_.scale[0], params_.scale[1]);
      const double ratio = std::exp(random.uniform(low, high));
      const auto h = static_cast<std::int64_t>(std::nearbyint(std::sqrt(area * ratio)));
      const auto w = static_cast<std::int64_t>(std::nearbyint(std::sqrt(area / ratio)));
      if (h >= height || w >= width) continue;
      const auto y = random.below(static_cast<std::uint64_t>(height - h + 1));
      const auto x = random.below(static_cast<std::uint64_t>(width - w + 1));
      return erase(canvas, static_cast<std::int64_t>(y), static_cast<std::int64_t>(x), {h, w});
    }
  }

 private:
  static constexpr int kTries = 10;

  void erase(Canvas& canvas, std::int64_t y, std::int64_t x, PictureSize box) const {
    const std::int64_t channels = canvas.channels();
    const std::int64_t row = canvas.row_bytes();
    std::uint8_t* const pixels = canvas.writable();
    for (std::int64_t i = y; i < y + box.height; ++i)
      for (std::int64_t j = x * channels; j < (x + box.width) * channels; ++j)
        pixels[i * row + j] = static_cast<std::uint8_t>(
            params_.value[static_cast<std::size_t>(j % channels) % params_.value.size()]);
  }

  Params params_;
};

}  // namespace

void add_erasing(std::vector<OperationType>& types) {
  types.push_back(operation<RandomErasing>(
      Contract<RandomErasing::Params>("random_erasing", "Paints over a box at a random position.")
          .param("p", &RandomErasing::Params::p, 0, 1, "probability")
          .param("scale", &RandomErasing::Params::scale, 0, 1,
                 "limits of the box's share of the area")
          .param("ratio", &RandomErasing::Params::ratio, 0.01, 100,
                 "limits of the box's height / width")
          .param("value", &RandomErasing::Params::value, 0, 255,
                 "level of the box, or one for each channel")));
}

}  // namespace brigade
