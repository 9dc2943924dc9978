#pragma once

// Pictures of any bytes, and how they are normalised.

#include <brigade/cuda.h>

#include <vector>

namespace brigade::cuda {

inline std::vector<std::uint8_t> made_levels(std::int64_t count, std::uint64_t id) {
  Philox random(1, 2, 3, id);
  std::vector<std::uint8_t> levels(static_cast<std::size_t>(count));
  for (std::uint8_t& level : levels) level = static_cast<std::uint8_t>(random.next());
  return levels;
}

inline Normalization pictures_of(std::int64_t height, std::int64_t width,
                                 std::int64_t channels = 3) {
  Normalization to;
  to.height = height;
  to.width = width;
  to.channels = channels;
  to.mean = {0.485F, 0.456F, 0.406F, 0.25F, 0, 0.1F};
  to.std = {0.229F, 0.224F, 0.225F, 0.5F, 0.75F, 3};
  return to;
}

}  // namespace brigade::cuda
