#include "tests/stages/cuda/kernel_grid.h"

#include <string_view>

#include "stages/cuda/normalize_value.h"

namespace brigade::cuda {
namespace {

template <class Value>
void run_grid(unsigned grid_x, unsigned grid_y, unsigned block_x, void** arguments) {
  const auto& work = *static_cast<const PixelWork*>(arguments[0]);
  const auto& cuts = *static_cast<const Cuts*>(arguments[1]);
  const auto* pictures = *static_cast<const std::uint8_t**>(arguments[2]);
  auto* values = *static_cast<Value**>(arguments[3]);
  LevelTable<Value> table;
  const NormalValue<Value> value{work};
  for (unsigned y = 0; y < grid_y; ++y)
    for (unsigned x = 0; x < grid_x; ++x) {
      for (unsigned thread = 0; thread < block_x; ++thread) make_level(work, thread, value, table);
      for (unsigned thread = 0; thread < block_x; ++thread)
        make_pixels(work, cuts, x, y, thread, pictures, table, value, values);
    }
}

}  // namespace

bool run_kernel_grid(const char* kernel, unsigned grid_x, unsigned grid_y, unsigned block_x,
                     void** arguments) {
  const std::string_view name = kernel;
  if (name == "brigade_normalize_f32")
    run_grid<float>(grid_x, grid_y, block_x, arguments);
  else if (name == "brigade_normalize_f16")
    run_grid<__half>(grid_x, grid_y, block_x, arguments);
  else if (name == "brigade_normalize_bf16")
    run_grid<__nv_bfloat16>(grid_x, grid_y, block_x, arguments);
  else
    return false;
  return true;
}

}  // namespace brigade::cuda
