#pragma once

// Pictures resized by a plain reference, and how far others are from it.

#include <algorithm>
#include <cmath>
#include <vector>

#include <brigade/check.h>
#include "tests/support/images/test_images.h"

namespace brigade::testing_support {

/// The whole picture resized in double precision, straight from the definition of the filter.
inline std::vector<double> resize_exactly(const Picture& in, std::int64_t height,
                                          std::int64_t width, bool antialias) {
  const auto weights = [antialias](std::int64_t from, std::int64_t to, std::int64_t i) {
    const double scale = static_cast<double>(from) / static_cast<double>(to);
    const double support = antialias && scale > 1 ? scale : 1;
    const double center = (static_cast<double>(i) + 0.5) * scale;
    std::vector<double> out(static_cast<std::size_t>(from));
    double sum = 0;
    for (std::size_t x = 0; x < out.size(); ++x) {
      out[x] = std::max(0.0, 1 - std::abs(static_cast<double>(x) + 0.5 - center) / support);
      sum += out[x];
    }
    for (double& weight : out) weight /= sum;
    return out;
  };
  std::vector<std::vector<double>> rows, columns;
  for (std::int64_t y = 0; y < height; ++y) rows.push_back(weights(in.height, height, y));
  for (std::int64_t x = 0; x < width; ++x) columns.push_back(weights(in.width, width, x));
  std::vector<double> out;
  for (const auto& row : rows)
    for (const auto& column : columns)
      for (std::int64_t c = 0; c < in.channels; ++c) {
        double sum = 0;
        for (std::int64_t y = 0; y < in.height; ++y) {
          const double weight = row[static_cast<std::size_t>(y)];
          for (std::int64_t x = 0; weight > 0 && x < in.width; ++x)
            sum += weight * column[static_cast<std::size_t>(x)] * in.at(y, x, c);
        }
        out.push_back(sum);
      }
  return out;
}

/// The largest difference, and the share of samples that differ by at most one.
struct Difference {
  double largest = 0;
  double within_one = 0;
  double equal = 0;  ///< share of the rounded values that are the same
};

inline Difference difference(const Picture& picture, const std::vector<double>& exact) {
  BRIGADE_CHECK(picture.bytes.size() == exact.size(), picture.bytes.size(), exact.size());
  Difference out;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double apart = std::abs(picture.bytes[i] - exact[i]);
    out.largest = std::max(out.largest, apart);
    out.within_one += apart <= 1;
    out.equal += picture.bytes[i] == std::lround(exact[i]);
  }
  out.within_one /= static_cast<double>(exact.size());
  out.equal /= static_cast<double>(exact.size());
  return out;
}

}  // namespace brigade::testing_support
