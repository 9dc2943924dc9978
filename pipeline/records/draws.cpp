#include "pipeline/records/draws.h"

#include <algorithm>

#include <brigade/random.h>

namespace brigade {
namespace {

using WideLine = unsigned __int128;

constexpr double kLine = 0x1p62;                            // its length, but for rounding
constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;  // in units of 2^-64

}  // namespace

Draws::Draws(const std::vector<double>& weights, std::uint64_t size, std::uint64_t seed,
             std::uint64_t found, Subset subset)
    : size_(size), seed_(seed), found_(found), subset_(std::move(subset)) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  ends_.reserve(weights.size());
  std::uint64_t end = 0;
  for (const double weight : weights) {
    end += static_cast<std::uint64_t>(weight / sum * kLine);
    ends_.push_back(end);
  }
}

std::uint64_t Draws::shift(std::uint32_t epoch) const {
  const std::uint64_t line = ends_.back();
  const auto scaled = [line](std::uint64_t of_2_64) {
    return static_cast<std::uint64_t>(WideLine{of_2_64} * line >> 64);
  };
  const std::uint64_t first = scaled(Philox(seed_, stream_id("weights"), 0, 0).next64());
  return static_cast<std::uint64_t>((WideLine{scaled(kGoldenRatio)} * epoch + first) % line);
}

// The line is cut into size() pieces: in units of a size()-th of its own, places are `line` apart.
std::uint64_t Draws::id(std::uint64_t draw, std::uint64_t shift) const {
  const std::uint64_t line = ends_.back();
  const auto place = static_cast<std::uint64_t>((WideLine{draw} * line + shift) / size_);
  const auto sample = std::upper_bound(ends_.begin(), ends_.end(), place);
  const WideLine begin = sample == ends_.begin() ? 0 : WideLine{*(sample - 1)} * size_;
  const auto first =
      begin <= shift ? 0 : static_cast<std::uint64_t>((begin - shift + line - 1) / line);
  const auto position = static_cast<std::uint64_t>(sample - ends_.begin());
  return subset_(position) + (draw - first) * found_;
}

std::uint64_t Draws::hash() const {
  std::uint64_t hash = mix64(size_ ^ mix64(found_));
  for (const std::uint64_t end : ends_) hash = mix64(hash ^ end);
  return hash;
}

}  // namespace brigade
