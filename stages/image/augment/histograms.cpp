// Operations whose levels follow from the whole picture.

#include <algorithm>
#include <numeric>
#include <vector>

#include "stages/image/augment/adjust.h"
#include "stages/image/augment/operation.h"

namespace brigade {
namespace {

using Histogram = std::array<std::int64_t, 256>;

Levels stretched(const Histogram& counts) {
  Levels levels;
  std::iota(levels.begin(), levels.end(), 0);
  const auto first = std::find_if(counts.begin(), counts.end(), [](auto n) { return n > 0; });
  const auto last = std::find_if(counts.rbegin(), counts.rend(), [](auto n) { return n > 0; });
  const auto least = static_cast<float>(first - counts.begin());
  const auto most = static_cast<float>(counts.rend() - last - 1);
  if (most <= least) return levels;
  const float scale = 255 / (most - least);
  for (std::size_t i = 0; i < levels.size(); ++i)
    levels[i] = static_cast<std::uint8_t>(
        std::clamp((static_cast<float>(i) - least) * scale, 0.0F, 255.0F));
  return levels;
}

Levels equalized(const Histogram& counts) {
  Levels levels;
  std::iota(levels.begin(), levels.end(), 0);
  const auto last = std::find_if(counts.rbegin(), counts.rend(), [](auto n) { return n > 0; });
  const std::int64_t all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const std::int64_t step = last == counts.rend() ? 0 : (all - *last) / 255;
  if (step == 0) return levels;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    levels[i] = static_cast<std::uint8_t>(
        i == 0 ? 0 : std::min<std::int64_t>((sum + step / 2) / step, 255));
    sum += counts[i];
  }
  return levels;
}

void map_channels(Canvas& canvas, Levels (*levels_of)(const Histogram&)) {
  const std::int64_t channels = canvas.channels();
  const std::int64_t bytes = canvas.bytes();
  const std::uint8_t* const from = canvas.pixels();
  std::vector<Histogram> counts(static_cast<std::size_t>(channels));
  for (std::int64_t i = 0; i < bytes; i += channels)
    for (std::int64_t c = 0; c < channels; ++c) ++counts[static_cast<std::size_t>(c)][from[i + c]];
  std::vector<Levels> levels(counts.size());
  for (std::size_t c = 0; c < counts.size(); ++c) levels[c] = levels_of(counts[c]);
  std::uint8_t* const to = canvas.same_size();
  for (std::int64_t i = 0; i < bytes; i += channels)
    for (std::int64_t c = 0; c < channels; ++c)
      to[i + c] = levels[static_cast<std::size_t>(c)][from[i + c]];
}

}  // namespace

void autocontrast(Canvas& canvas) { map_channels(canvas, stretched); }
void equalize(Canvas& canvas) { map_channels(canvas, equalized); }

void add_histograms(std::vector<OperationType>& types) {
  types.push_back(operation<Sometimes<autocontrast>>(
      Contract<ChanceParams>("random_autocontrast", "Stretches each channel's levels to 0 .. 255.")
          .param("p", &ChanceParams::p, 0, 1, "probability")));
  types.push_back(operation<Sometimes<equalize>>(
      Contract<ChanceParams>("random_equalize", "Equalizes the histogram of each channel.")
          .param("p", &ChanceParams::p, 0, 1, "probability")));
}

}  // namespace brigade
