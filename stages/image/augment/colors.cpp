// Operations on each pixel's colour by itself.

#include <algorithm>
#include <array>
#include <string>

#include "stages/image/augment/adjust.h"
#include "stages/image/augment/color_kernels.h"
#include "stages/image/augment/operation.h"

namespace brigade {
namespace {

const ColorKernels& kernels() { return color_kernels().back(); }

double mean_grey(const Canvas& canvas) {
  const std::uint8_t* const pixels = canvas.pixels();
  std::uint64_t sum = 0;
  if (canvas.channels() == kRgbChannels) {
    sum = kernels().sum_greys(pixels, canvas.size().pixels());
  } else {
    for (std::int64_t i = 0; i < canvas.bytes(); ++i) sum += pixels[i];
  }
  return static_cast<double>(sum) / static_cast<double>(canvas.size().pixels());
}

template <class Of>
Levels levels_by(const Of& of) {
  Levels levels;
  for (std::size_t i = 0; i < levels.size(); ++i) levels[i] = of(static_cast<int>(i));
  return levels;
}

void blend_levels(Canvas& canvas, double factor, float other) {
  const std::uint8_t* const from = canvas.pixels();
  const std::int64_t bytes = canvas.bytes();
  kernels().blend(from, bytes, LevelBlend(factor), other, canvas.same_size());
}

}  // namespace

void map_levels(Canvas& canvas, const Levels& levels) {
  const std::uint8_t* const from = canvas.pixels();
  const std::int64_t bytes = canvas.bytes();
  std::uint8_t* const to = canvas.same_size();
  for (std::int64_t i = 0; i < bytes; ++i) to[i] = levels[from[i]];
}

void adjust_brightness(Canvas& canvas, double factor) { blend_levels(canvas, factor, 0); }

void adjust_contrast(Canvas& canvas, double factor) {
  blend_levels(canvas, factor, static_cast<float>(mean_grey(canvas)));
}

void adjust_saturation(Canvas& canvas, double factor) {
  if (canvas.channels() != kRgbChannels) return;
  const std::uint8_t* const from = canvas.pixels();
  kernels().saturate(from, canvas.size().pixels(), LevelBlend(factor), canvas.same_size());
}

void adjust_hue(Canvas& canvas, double turn) {
  if (canvas.channels() != kRgbChannels) return;
  const std::uint8_t* const from = canvas.pixels();
  kernels().turn_hue(from, canvas.size().pixels(), static_cast<float>(turn), canvas.same_size());
}

void invert(Canvas& canvas) {
  map_levels(canvas, levels_by([](int level) { return static_cast<std::uint8_t>(255 - level); }));
}

void solarize(Canvas& canvas, double threshold) {
  map_levels(canvas, levels_by([&](int level) {
               return static_cast<std::uint8_t>(level >= threshold ? 255 - level : level);
             }));
}

void posterize(Canvas& canvas, int bits) {
  const int mask = 0xff00 >> bits & 0xff;
  map_levels(canvas, levels_by([&](int level) { return static_cast<std::uint8_t>(level & mask); }));
}

void to_grey(Canvas& canvas) { adjust_saturation(canvas, 0); }

namespace {

class ColorJitter : public Operation {
 public:
  struct Params {
    NumberOrRange brightness, contrast, saturation, hue;
    double p = 1;
    Result<void> check() const {
      BRIGADE_TRY(brightness.check("brightness"));
      BRIGADE_TRY(contrast.check("contrast"));
      BRIGADE_TRY(saturation.check("saturation"));
      return hue.check("hue");
    }
  };
  explicit ColorJitter(const Params& params) : p_(params.p) {
    add(params.brightness, 1, adjust_brightness);
    add(params.contrast, 1, adjust_contrast);
    add(params.saturation, 1, adjust_saturation);
    add(params.hue, 0, adjust_hue);
  }
  Result<void> accepts(std::int64_t channels) const override { return of_gray_or_rgb(channels); }
  bool draws() const override { return true; }
  void run(Canvas& canvas, Philox& random) override {
    if (!happens(random, p_)) return;
    std::array<std::size_t, 4> order{};
    for (std::size_t i = 0; i < count_; ++i) {
      order[i] = i;
      std::swap(order[i], order[random.below(i + 1)]);
    }
    std::array<double, 4> factors{};
    for (std::size_t i = 0; i < count_; ++i) factors[i] = changes_[i].range.draw(random);
    for (std::size_t i = 0; i < count_; ++i) {
      const std::size_t which = order[i];
      if (factors[which] != changes_[which].neutral) changes_[which].adjust(canvas, factors[which]);
    }
  }

 private:
  struct Change {
    NumberOrRange range;
    double neutral = 1;
    void (*adjust)(Canvas&, double) = nullptr;
  };
  /// Those that change nothing are left out.
  void add(const NumberOrRange& given, double neutral, void (*adjust)(Canvas&, double)) {
    if (!given.is_range && given.low == 0) return;
    changes_[count_++] = {given.around(neutral, neutral == 0 ? -0.5 : 0), neutral, adjust};
  }

  double p_;
  std::array<Change, 4> changes_{};
  std::size_t count_ = 0;
};

struct GrayscaleParams {
  double p = 0.1;
};
void grayscale_by(Canvas& canvas, const GrayscaleParams&) { to_grey(canvas); }

class RandomGrayscale : public ByChance<GrayscaleParams, grayscale_by> {
 public:
  using ByChance::ByChance;
  Result<void> accepts(std::int64_t channels) const override { return of_gray_or_rgb(channels); }
};

struct SolarizeParams {
  double threshold = 0;
  double p = 0.5;
};
void solarize_by(Canvas& canvas, const SolarizeParams& params) {
  solarize(canvas, params.threshold);
}

struct PosterizeParams {
  std::int64_t bits = 0;
  double p = 0.5;
};
void posterize_by(Canvas& canvas, const PosterizeParams& params) {
  posterize(canvas, static_cast<int>(params.bits));
}

}  // namespace

void add_colors(std::vector<OperationType>& types) {
  constexpr const char* kFactor = "; a single number b means 1 - b to 1 + b";
  const auto factor = [](const char* what) { return std::string(what) + kFactor; };
  types.push_back(operation<ColorJitter>(
      Contract<ColorJitter::Params>(
          "color_jitter", "Changes brightness, contrast, saturation and hue, in a random order.")
          .param("brightness", &ColorJitter::Params::brightness, 0, 1000,
                 factor("limits of the factor, where 0 is black"))
          .param("contrast", &ColorJitter::Params::contrast, 0, 1000,
                 factor("limits of the factor, where 0 is the mean gray"))
          .param("saturation", &ColorJitter::Params::saturation, 0, 1000,
                 factor("limits of the factor, where 0 is gray"))
          .param("hue", &ColorJitter::Params::hue, -0.5, 0.5,
                 "limits of the shift, where 1 is the whole color circle; a single number h means "
                 "-h to h")
          .param("p", &ColorJitter::Params::p, 0, 1, "probability")));
  types.push_back(operation<RandomGrayscale>(
      Contract<GrayscaleParams>("random_grayscale",
                                "Converts to gray, with the same number of channels.")
          .param("p", &GrayscaleParams::p, 0, 1, "probability")));
  types.push_back(
      operation<Sometimes<invert>>(Contract<ChanceParams>("random_invert", "Inverts the image.")
                                       .param("p", &ChanceParams::p, 0, 1, "probability")));
  types.push_back(operation<ByChance<SolarizeParams, solarize_by>>(
      Contract<SolarizeParams>("random_solarize", "Inverts the brighter levels.")
          .param("threshold", &SolarizeParams::threshold, 0, 255,
                 "levels from here up are inverted")
          .required()
          .param("p", &SolarizeParams::p, 0, 1, "probability")));
  types.push_back(operation<ByChance<PosterizeParams, posterize_by>>(
      Contract<PosterizeParams>("random_posterize", "Keeps the upper bits of each level.")
          .param("bits", &PosterizeParams::bits, 0, 8, "number of bits to keep")
          .required()
          .param("p", &PosterizeParams::p, 0, 1, "probability")));
}

}  // namespace brigade
