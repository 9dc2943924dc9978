#pragma once

// Pictures of any bytes, and how they are normalised.

#include <brigade/cuda.h>
#include <gtest/gtest.h>

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

/// Pictures in each order and type, cut anywhere, and their values as the CPU makes them.
struct KernelCase {
  KernelCase(DType dtype, int orders, std::int64_t pictures, std::int64_t pad)
      : to(pictures_of(61, 75, orders == 3 ? 6 : 3)) {  // with channels that no table has
    to.planes = orders % 2 == 1;
    to.channels_last = orders / 2 == 1;
    to.dtype = dtype;
    to.pad = pad;
    to.cut_height = 66;  // two blocks for a picture
    to.cut_width = 64;
    for (std::int64_t id = 0; id < pictures; ++id)
      cuts.push_back(random_cut(to, 0.5, Philox(1, 2, 3, static_cast<std::uint64_t>(id))));
    levels = made_levels(pictures * to.height * to.width * to.channels, 5);
    by_cpu.resize(static_cast<std::size_t>(pictures * 66 * 64 * to.channels) * dtype_bytes(dtype));
    EXPECT_TRUE(normalize(to, cuts, levels.data(), by_cpu.data()).ok());
  }
  Normalization to;
  std::vector<Cut> cuts;
  std::vector<std::uint8_t> levels;
  std::vector<std::byte> by_cpu;
};

}  // namespace brigade::cuda
