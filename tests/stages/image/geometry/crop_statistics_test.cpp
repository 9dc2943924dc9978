// Random cuts beside torchvision's definition of RandomResizedCrop, written down once more with
// another source of random numbers: areas, ratios and places must have the same distributions.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "stages/image/geometry/crop.h"

namespace brigade {
namespace {

constexpr int kCuts = 20'000;
// Two samples of one distribution are further apart than this once in 10,000 times: 2.2 * sqrt(2/n)
// (Kolmogorov and Smirnov).
constexpr double kApartMax = 0.022;

struct Rectangle {
  std::int64_t y, x, height, width;
};

/// get_params() of torchvision/transforms/transforms.py; `area` and `ratio` are its two draws.
Rectangle torchvision_cut(std::int64_t height, std::int64_t width,
                          const std::function<double()>& area, const std::function<double()>& ratio,
                          std::mt19937_64& random) {
  const auto below = [&random](std::int64_t n) {
    return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random);
  };
  for (int i = 0; i < 10; ++i) {
    const double target = static_cast<double>(height * width) * area();
    const double aspect = ratio();
    const auto w = static_cast<std::int64_t>(std::nearbyint(std::sqrt(target * aspect)));
    const auto h = static_cast<std::int64_t>(std::nearbyint(std::sqrt(target / aspect)));
    if (0 < w && w <= width && 0 < h && h <= height)
      return {below(height - h + 1), below(width - w + 1), h, w};
  }
  std::int64_t w = width, h = height;
  const double in_ratio = static_cast<double>(width) / static_cast<double>(height);
  if (in_ratio < 0.75) h = static_cast<std::int64_t>(std::nearbyint(static_cast<double>(w) / 0.75));
  if (in_ratio > 4.0 / 3)
    w = static_cast<std::int64_t>(std::nearbyint(static_cast<double>(h) * 4.0 / 3));
  return {(height - h) / 2, (width - w) / 2, h, w};
}

using Figures = std::map<std::string, std::vector<double>>;

void add(Figures& figures, const Rectangle& cut, std::int64_t height, std::int64_t width) {
  const auto h = static_cast<double>(cut.height), w = static_cast<double>(cut.width);
  figures["area"].push_back(h * w);
  figures["log ratio"].push_back(std::log(w / h));
  figures["top"].push_back((static_cast<double>(cut.y) + 0.5) /
                           static_cast<double>(height - cut.height + 1));
  figures["left"].push_back((static_cast<double>(cut.x) + 0.5) /
                            static_cast<double>(width - cut.width + 1));
  figures["place by area"].push_back(figures["top"].back() * h * w);  // they are independent
}

Figures ours(std::int64_t height, std::int64_t width) {
  Figures figures;
  for (std::uint64_t id = 0; id < kCuts; ++id) {
    const Cut cut = choose_cut({}, height, width, Philox(7, stream_id("decode"), 0, id));
    EXPECT_TRUE(cut.rows.begin >= 0 && cut.rows.begin + cut.rows.size <= height);
    EXPECT_TRUE(cut.columns.begin >= 0 && cut.columns.begin + cut.columns.size <= width);
    EXPECT_TRUE(cut.rows.resized == 224 && cut.columns.count == 224 && !cut.flip);
    add(figures, {cut.rows.begin, cut.columns.begin, cut.rows.size, cut.columns.size}, height,
        width);
  }
  return figures;
}

enum class Wrong : std::uint8_t { nothing, side_uniform, ratio_uniform };

Figures theirs(std::int64_t height, std::int64_t width, Wrong wrong = Wrong::nothing) {
  std::mt19937_64 random(11);
  const auto uniform = [&random](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  const auto area = [&] {
    if (wrong == Wrong::side_uniform) return std::pow(uniform(std::sqrt(0.08), 1), 2.0);
    return uniform(0.08, 1);
  };
  const auto ratio = [&] {
    if (wrong == Wrong::ratio_uniform) return uniform(0.75, 4.0 / 3);
    return std::exp(uniform(std::log(0.75), std::log(4.0 / 3)));
  };
  Figures figures;
  for (int i = 0; i < kCuts; ++i)
    add(figures, torchvision_cut(height, width, area, ratio, random), height, width);
  return figures;
}

/// The largest distance between the two distributions.
double apart(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  double largest = 0;
  for (const std::vector<double>* values : {&a, &b})
    for (const double value : *values) {
      const auto share = [value](const std::vector<double>& sorted) {
        return static_cast<double>(std::upper_bound(sorted.begin(), sorted.end(), value) -
                                   sorted.begin()) /
               static_cast<double>(sorted.size());
      };
      largest = std::max(largest, std::abs(share(a) - share(b)));
    }
  return largest;
}

/// A whole picture's, its largest centred cut's, and a strip's in which most tries do not fit.
constexpr std::pair<std::int64_t, std::int64_t> kSizes[] = {{375, 500}, {500, 333}, {100, 600}};

TEST(CropStatisticsTest, CutsAreDistributedAsTorchvisions) {
  for (const auto& [height, width] : kSizes) {
    const Figures found = ours(height, width);
    for (const auto& [name, values] : theirs(height, width))
      EXPECT_LT(apart(found.at(name), values), kApartMax)
          << name << " of " << height << " x " << width;
  }
}

TEST(CropStatisticsTest, TheLargestCentredCutComesAsOften) {
  const auto largest = [](const Figures& figures) {
    return std::count(figures.at("area").begin(), figures.at("area").end(), 100.0 * 133) /
           static_cast<double>(kCuts);
  };
  const double share = largest(theirs(100, 600));
  EXPECT_GT(share, 0.05);
  EXPECT_NEAR(largest(ours(100, 600)), share, 0.015);
}

TEST(CropStatisticsTest, OtherDefinitionsAreSeen) {
  const Figures found = ours(375, 500);
  EXPECT_GT(apart(found.at("area"), theirs(375, 500, Wrong::side_uniform).at("area")), kApartMax);
  EXPECT_GT(apart(found.at("log ratio"), theirs(375, 500, Wrong::ratio_uniform).at("log ratio")),
            kApartMax);
}

}  // namespace
}  // namespace brigade
