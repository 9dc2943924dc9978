#include "stages/image/mixing.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <brigade/check.h>
#include "stages/basic/half_float.h"

namespace brigade {
namespace {

double draw_gamma(Philox& random, double shape) {
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.normal();
    const double v = (1 + c * x) * (1 + c * x) * (1 + c * x);
    const double u = 1 - random.uniform();
    if (v > 0 && std::log(u) < x * x / 2 + d - d * v + d * std::log(v)) return d * v;
  }
}

float wide(float value) { return value; }
float wide(std::uint8_t value) { return static_cast<float>(value); }
float wide(BFloat16 value) { return to_float(value); }
float wide(Half value) { return to_float(value); }

template <class T>
T narrow(float value);
template <>
float narrow(float value) {
  return value;
}
template <>
std::uint8_t narrow(float value) {
  return static_cast<std::uint8_t>(static_cast<int>(value + 0.5F));
}
template <>
BFloat16 narrow(float value) {
  return to_bfloat16(value);
}
template <>
Half narrow(float value) {
  return to_half(value);
}

template <class T>
void mix(const void* a, const void* b, float weight, std::int64_t count, void* to) {
  const auto* const first = static_cast<const T*>(a);
  const auto* const second = static_cast<const T*>(b);
  auto* const out = static_cast<T*>(to);
  const float rest = 1 - weight;
  for (std::int64_t i = 0; i < count; ++i)
    out[i] = narrow<T>(wide(first[i]) * weight + wide(second[i]) * rest);
}

}  // namespace

double draw_beta(Philox& random, double alpha) {
  if (alpha > 1) {
    const double x = draw_gamma(random, alpha);
    const double y = draw_gamma(random, alpha);
    return x / (x + y);
  }
  for (;;) {
    // Logarithms of u^(1/alpha) and v^(1/alpha), which may be too small for numbers.
    const double log_u = std::log(1 - random.uniform());
    const double log_v = std::log(1 - random.uniform());
    const double x = log_u / alpha;
    const double y = log_v / alpha;
    const double larger = std::max(x, y);
    // Of the tiniest alphas even these are not finite; their limit is one picture or the other.
    if (std::isinf(larger)) return log_u > log_v ? 1 : 0;
    const double sum = larger + std::log(std::exp(x - larger) + std::exp(y - larger));
    if (sum <= 0) return std::exp(x - sum);
  }
}

void mix_numbers(DType dtype, const void* a, const void* b, float weight, std::int64_t count,
                 void* to) {
  if (dtype == u8) return mix<std::uint8_t>(a, b, weight, count, to);
  if (dtype == f16) return mix<Half>(a, b, weight, count, to);
  if (dtype == bf16) return mix<BFloat16>(a, b, weight, count, to);
  BRIGADE_CHECK(dtype == f32, dtype_name(dtype));
  mix<float>(a, b, weight, count, to);
}

CutBox draw_cut_box(Philox& random, double weight, std::int64_t height, std::int64_t width) {
  const auto middle_x = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(width)));
  const auto middle_y = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(height)));
  const double half = 0.5 * std::sqrt(1 - weight);
  const auto half_width = static_cast<std::int64_t>(half * static_cast<double>(width));
  const auto half_height = static_cast<std::int64_t>(half * static_cast<double>(height));
  return {std::max<std::int64_t>(middle_y - half_height, 0),
          std::max<std::int64_t>(middle_x - half_width, 0),
          std::min(middle_y + half_height, height), std::min(middle_x + half_width, width)};
}

void paste_box(const PictureLayout& layout, const CutBox& box, const std::byte* from,
               std::byte* to) {
  const std::int64_t row = layout.width * layout.pixel_bytes;
  const auto bytes = static_cast<std::size_t>((box.right - box.left) * layout.pixel_bytes);
  for (std::int64_t plane = 0; plane < layout.planes; ++plane)
    for (std::int64_t y = box.top; y < box.bottom; ++y) {
      const std::int64_t at = (plane * layout.height + y) * row + box.left * layout.pixel_bytes;
      std::memcpy(to + at, from + at, bytes);
    }
}

}  // namespace brigade
