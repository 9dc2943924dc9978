// Operations on each pixel's colour by itself.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "stages/image/augment/adjust.h"
#include "stages/image/augment/operation_kinds.h"

namespace brigade {
namespace {

std::uint8_t cut_to_level(float value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0.0F, 255.0F));
}

/// ITU-R BT.601, cut to a level.
std::uint8_t grey_of(const std::uint8_t* rgb) {
  return static_cast<std::uint8_t>(0.2989F * static_cast<float>(rgb[0]) +
                                   0.587F * static_cast<float>(rgb[1]) +
                                   0.114F * static_cast<float>(rgb[2]));
}

/// factor x level + (1 - factor) x other.
struct Blend {
  explicit Blend(double of) : factor(static_cast<float>(of)), rest(static_cast<float>(1 - of)) {}
  std::uint8_t operator()(float level, float other) const {
    return cut_to_level(factor * level + rest * other);
  }
  float factor;
  float rest;
};

double mean_grey(const Canvas& canvas) {
  const std::uint8_t* const pixels = canvas.pixels();
  std::uint64_t sum = 0;
  if (canvas.channels() == kRgbChannels) {
    for (std::int64_t i = 0; i < canvas.bytes(); i += kRgbChannels) sum += grey_of(pixels + i);
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

struct Hsv {
  float hue;
  float saturation;
  float value;
};

/// Of colours from 0 to 1. Travis's formulas, as in colorsys.
Hsv to_hsv(float r, float g, float b) {
  const float most = std::max({r, g, b});
  const float least = std::min({r, g, b});
  const float range = most - least;
  const float divisor = range == 0 ? 1 : range;
  const float red = (most - r) / divisor;
  const float green = (most - g) / divisor;
  const float blue = (most - b) / divisor;
  float hue = 4 + green - red;
  if (most == g) hue = 2 + red - blue;
  if (most == r) hue = blue - green;
  hue = hue / 6 + 1;
  return {hue - std::floor(hue), range == 0 ? 0 : range / most, most};
}

std::array<float, 3> to_rgb(const Hsv& hsv) {
  const float sector = std::floor(hsv.hue * 6);
  const float part = hsv.hue * 6 - sector;
  const float v = hsv.value;
  const auto unit = [](float value) { return std::clamp(value, 0.0F, 1.0F); };
  const float p = unit(v * (1 - hsv.saturation));
  const float q = unit(v * (1 - hsv.saturation * part));
  const float t = unit(v * (1 - hsv.saturation * (1 - part)));
  switch (static_cast<int>(sector) % 6) {
    case 0:
      return {v, t, p};
    case 1:
      return {q, v, p};
    case 2:
      return {p, v, t};
    case 3:
      return {p, q, v};
    case 4:
      return {t, p, v};
    default:
      return {v, p, q};
  }
}

}  // namespace

void map_levels(Canvas& canvas, const Levels& levels) {
  const std::uint8_t* const from = canvas.pixels();
  const std::int64_t bytes = canvas.bytes();
  std::uint8_t* const to = canvas.same_size();
  for (std::int64_t i = 0; i < bytes; ++i) to[i] = levels[from[i]];
}

void adjust_brightness(Canvas& canvas, double factor) {
  const Blend blend(factor);
  map_levels(canvas, levels_by([&](int level) { return blend(static_cast<float>(level), 0); }));
}

void adjust_contrast(Canvas& canvas, double factor) {
  const Blend blend(factor);
  const auto mean = static_cast<float>(mean_grey(canvas));
  map_levels(canvas, levels_by([&](int level) { return blend(static_cast<float>(level), mean); }));
}

void adjust_saturation(Canvas& canvas, double factor) {
  if (canvas.channels() != kRgbChannels) return;
  const Blend blend(factor);
  const std::uint8_t* const from = canvas.pixels();
  const std::int64_t bytes = canvas.bytes();
  std::uint8_t* const to = canvas.same_size();
  for (std::int64_t i = 0; i < bytes; i += kRgbChannels) {
    const auto grey = static_cast<float>(grey_of(from + i));
    for (std::int64_t c = i; c < i + kRgbChannels; ++c)
      to[c] = blend(static_cast<float>(from[c]), grey);
  }
}

void adjust_hue(Canvas& canvas, double turn) {
  if (canvas.channels() != kRgbChannels) return;
  constexpr float kMost = 255.0F + 1 - 1e-3F;  // so that cutting the fraction off rounds
  const std::uint8_t* const from = canvas.pixels();
  const std::int64_t bytes = canvas.bytes();
  const auto by = static_cast<float>(turn);
  std::uint8_t* const to = canvas.same_size();
  for (std::int64_t i = 0; i < bytes; i += kRgbChannels) {
    const auto color = [&](std::int64_t c) { return static_cast<float>(from[i + c]) / 255; };
    Hsv hsv = to_hsv(color(0), color(1), color(2));
    hsv.hue += by;
    hsv.hue -= std::floor(hsv.hue);
    const auto rgb = to_rgb(hsv);
    for (std::size_t c = 0; c < rgb.size(); ++c)
      to[i + static_cast<std::int64_t>(c)] = static_cast<std::uint8_t>(rgb[c] * kMost);
  }
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

void to_grey(Canvas& canvas) {
  if (canvas.channels() != kRgbChannels) return;
  const std::uint8_t* const from = canvas.pixels();
  const std::int64_t bytes = canvas.bytes();
  std::uint8_t* const to = canvas.same_size();
  for (std::int64_t i = 0; i < bytes; i += kRgbChannels)
    std::memset(to + i, grey_of(from + i), kRgbChannels);
}

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

struct ChanceParams {
  double p = 0.5;
};

/// An operation without a choice but whether.
class ByChance : public Operation {
 public:
  explicit ByChance(double p) : p_(p) {}
  bool draws() const override { return uncertain(p_); }
  void run(Canvas& canvas, Philox& random) override {
    if (happens(random, p_)) change(canvas);
  }

 private:
  virtual void change(Canvas& canvas) = 0;
  double p_;
};

class RandomGrayscale : public ByChance {
 public:
  struct Params {
    double p = 0.1;
  };
  explicit RandomGrayscale(const Params& params) : ByChance(params.p) {}
  void change(Canvas& canvas) override { to_grey(canvas); }
};

class RandomInvert : public ByChance {
 public:
  using Params = ChanceParams;
  explicit RandomInvert(const Params& params) : ByChance(params.p) {}
  void change(Canvas& canvas) override { invert(canvas); }
};

class RandomSolarize : public ByChance {
 public:
  struct Params : ChanceParams {
    double threshold = 0;
  };
  explicit RandomSolarize(const Params& params)
      : ByChance(params.p), threshold_(params.threshold) {}
  void change(Canvas& canvas) override { solarize(canvas, threshold_); }

 private:
  double threshold_;
};

class RandomPosterize : public ByChance {
 public:
  struct Params : ChanceParams {
    std::int64_t bits = 0;
  };
  explicit RandomPosterize(const Params& params)
      : ByChance(params.p), bits_(static_cast<int>(params.bits)) {}
  void change(Canvas& canvas) override { posterize(canvas, bits_); }

 private:
  int bits_;
};

}  // namespace

void add_colors(std::vector<OperationType>& types) {
  constexpr const char* kFactor = "; one number b: from 1 - b to 1 + b";
  const auto factor = [](const char* what) { return std::string(what) + kFactor; };
  types.push_back(operation<ColorJitter>(
      Contract<ColorJitter::Params>("color_jitter", "Changes colours, in a random order.")
          .param("brightness", &ColorJitter::Params::brightness, 0, 1000,
                 factor("limits of the factor, 0 is black"))
          .param("contrast", &ColorJitter::Params::contrast, 0, 1000,
                 factor("limits of the factor, 0 is the mean grey"))
          .param("saturation", &ColorJitter::Params::saturation, 0, 1000,
                 factor("limits of the factor, 0 is grey"))
          .param("hue", &ColorJitter::Params::hue, -0.5, 0.5,
                 "limits of the turn, 1 is the whole circle; one number h: from -h to h")
          .param("p", &ColorJitter::Params::p, 0, 1, "probability")));
  types.push_back(operation<RandomGrayscale>(
      Contract<RandomGrayscale::Params>("random_grayscale", "Grey, in as many channels.")
          .param("p", &RandomGrayscale::Params::p, 0, 1, "probability")));
  types.push_back(operation<RandomInvert>(Contract<ChanceParams>("random_invert", "The negative.")
                                              .param("p", &ChanceParams::p, 0, 1, "probability")));
  types.push_back(operation<RandomSolarize>(
      Contract<RandomSolarize::Params>("random_solarize", "Inverts the brighter levels.")
          .param("threshold", &RandomSolarize::Params::threshold, 0, 255,
                 "the darkest level that is inverted")
          .required()
          .param("p", static_cast<double RandomSolarize::Params::*>(&ChanceParams::p), 0, 1,
                 "probability")));
  types.push_back(operation<RandomPosterize>(
      Contract<RandomPosterize::Params>("random_posterize", "Keeps the upper bits of each level.")
          .param("bits", &RandomPosterize::Params::bits, 0, 8, "bits that stay")
          .required()
          .param("p", static_cast<double RandomPosterize::Params::*>(&ChanceParams::p), 0, 1,
                 "probability")));
}

}  // namespace brigade
