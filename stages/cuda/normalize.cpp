#include "stages/cuda/normalize.h"

#include <algorithm>
#include <array>
#include <vector>

#include <brigade/text.h>
#include "stages/basic/half_float.h"
#include "stages/cuda/kernel_image.h"

namespace brigade::cuda {
namespace {

constexpr std::int64_t kBytesMax = std::int64_t{1} << 31;  // of a picture: offsets of 32 bits
constexpr std::int64_t kPadMax = 1 << 16;

std::int64_t cut_height(const Normalization& to) {
  return to.cut_height > 0 ? to.cut_height : to.height;
}
std::int64_t cut_width(const Normalization& to) {
  return to.cut_width > 0 ? to.cut_width : to.width;
}
std::int64_t rows_free(const Normalization& to) {
  return to.height + 2 * to.pad - cut_height(to) + 1;
}
std::int64_t columns_free(const Normalization& to) {
  return to.width + 2 * to.pad - cut_width(to) + 1;
}

bool fits(std::int64_t height, std::int64_t width, std::int64_t channels) {
  return height > 0 && width > 0 && height < kBytesMax && width < kBytesMax &&
         height * width < kBytesMax / channels;
}

Result<void> check_cuts(const Normalization& to, std::span<const Cut> cuts) {
  for (std::size_t i = 0; i < cuts.size(); ++i)
    if (cuts[i].y < 0 || cuts[i].y >= rows_free(to) || cuts[i].x < 0 ||
        cuts[i].x >= columns_free(to))
      return Error{concat("crop ", i, " begins at row ", cuts[i].y, ", column ", cuts[i].x,
                          "; expected rows 0 to ", rows_free(to) - 1, " and columns 0 to ",
                          columns_free(to) - 1)};
  return {};
}

/// Each level is converted once.
template <class Value>
void normalize_as(const PixelWork& work, std::span<const Cut> cuts, const std::uint8_t* pictures,
                  Value* values, Value (*round)(float)) {
  std::vector<std::array<Value, 256>> table(static_cast<std::size_t>(work.channels));
  for (std::int32_t c = 0; c < work.channels; ++c)
    for (int level = 0; level < 256; ++level)
      table[static_cast<std::size_t>(c)][static_cast<std::size_t>(level)] =
          round(normal_value(work, static_cast<std::uint8_t>(level), c));
  const auto value = [&table](std::uint8_t level, std::int32_t channel) {
    return table[static_cast<std::size_t>(channel)][level];
  };
  const std::int32_t pixels = work.cut_height * work.cut_width;
  for (const Cut& cut : cuts) {
    for (std::int32_t pixel = 0; pixel < pixels; ++pixel)
      normalize_pixel(work, cut, pixel, pictures, values, value);
    pictures += std::int64_t{work.height} * work.width * work.channels;
    values += std::int64_t{pixels} * work.channels;
  }
}

const char* kernel_of(DType dtype) {
  if (dtype == f16) return "brigade_normalize_f16";
  return dtype == bf16 ? "brigade_normalize_bf16" : "brigade_normalize_f32";
}

/// Of this process: the driver is asked once.
Result<Kernels*> the_kernels() {
  static const Result<KernelDriver> driver = KernelDriver::load();
  if (!driver) return driver.error();
  static Kernels kernels(*driver, kernel_image());
  return &kernels;
}

}  // namespace

Result<void> check(const Normalization& to) {
  if (to.channels < 1 || to.channels > static_cast<std::int64_t>(kChannelsMax))
    return Error{
        concat("expected images with 1 to ", kChannelsMax, " channels, found ", to.channels)};
  if (!fits(to.height, to.width, to.channels) || !fits(cut_height(to), cut_width(to), to.channels))
    return Error{
        concat("expected images and crops of at least one pixel and less than 2 GiB, found ",
               to.height, " x ", to.width, ", cropped to ", cut_height(to), " x ", cut_width(to))};
  if (to.pad < 0 || to.pad > kPadMax)
    return Error{concat("expected a pad of 0 to ", kPadMax, ", found ", to.pad)};
  if (rows_free(to) < 1 || columns_free(to) < 1)
    return Error{concat("a crop of ", cut_height(to), " x ", cut_width(to),
                        " does not fit into the padded image of ", to.height + 2 * to.pad, " x ",
                        to.width + 2 * to.pad, " pixels")};
  if (to.dtype != f32 && to.dtype != f16 && to.dtype != bf16)
    return Error{concat("expected the dtype f32, f16 or bf16, found ", dtype_name(to.dtype))};
  for (std::int64_t c = 0; c < to.channels; ++c)
    if (!(to.std[static_cast<std::size_t>(c)] > 0))
      return Error{concat("std must be greater than 0, found ", to.std[static_cast<std::size_t>(c)],
                          " for channel ", c)};
  return {};
}

Cut random_cut(const Normalization& to, double flip, Philox random) {
  const auto draw = [&random](std::int64_t choices) {
    if (choices <= 1) return std::int32_t{0};
    return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(choices)));
  };
  Cut cut;
  cut.y = draw(rows_free(to));
  cut.x = draw(columns_free(to));
  cut.mirrored = flip >= 1 || (flip > 0 && random.chance(flip));
  return cut;
}

Cut centre_cut(const Normalization& to) {
  return {static_cast<std::int32_t>((rows_free(to) - 1) / 2),
          static_cast<std::int32_t>((columns_free(to) - 1) / 2), 0};
}

PixelWork pixel_work(const Normalization& to) {
  PixelWork work{static_cast<std::int32_t>(to.height),
                 static_cast<std::int32_t>(to.width),
                 static_cast<std::int32_t>(to.channels),
                 static_cast<std::int32_t>(to.pad),
                 static_cast<std::int32_t>(cut_height(to)),
                 static_cast<std::int32_t>(cut_width(to)),
                 to.planes,
                 to.channels_last,
                 {},
                 {}};
  std::copy(to.mean.begin(), to.mean.end(), work.mean);
  std::copy(to.std.begin(), to.std.end(), work.std);
  return work;
}

Result<void> normalize(const Normalization& to, std::span<const Cut> cuts,
                       const std::uint8_t* pictures, void* values) {
  BRIGADE_TRY(check(to));
  BRIGADE_TRY(check_cuts(to, cuts));
  const PixelWork work = pixel_work(to);
  if (to.dtype == f16)
    normalize_as(work, cuts, pictures, static_cast<Half*>(values), to_half);
  else if (to.dtype == bf16)
    normalize_as(work, cuts, pictures, static_cast<BFloat16*>(values), to_bfloat16);
  else
    normalize_as<float>(work, cuts, pictures, static_cast<float*>(values),
                        [](float value) { return value; });
  return {};
}

bool has_kernels() { return !kernel_image().empty(); }

Result<void> launch_normalize(Kernels& kernels, const Normalization& to, std::span<const Cut> cuts,
                              const std::uint8_t* pictures, void* values, void* stream) {
  BRIGADE_TRY(check(to));
  BRIGADE_TRY(check_cuts(to, cuts));
  BRIGADE_TRY(kernels.load());  // where there is nothing to launch, too: who opens wants to know
  PixelWork work = pixel_work(to);
  const std::int64_t pixels = std::int64_t{work.cut_height} * work.cut_width;
  auto* to_bytes = static_cast<std::byte*>(values);
  while (!cuts.empty()) {
    const std::size_t count = std::min(cuts.size(), static_cast<std::size_t>(kCutsMax));
    Cuts some{};
    std::copy_n(cuts.begin(), count, some.at);
    void* first_value = to_bytes;
    void* arguments[] = {&work, &some, &pictures, &first_value};
    const Kernels::Grid grid{static_cast<unsigned>((pixels + kBlockPixels - 1) / kBlockPixels),
                             static_cast<unsigned>(count), kBlockThreads};
    BRIGADE_TRY(kernels.launch(kernel_of(to.dtype), grid, arguments, stream));
    const auto pictures_done = static_cast<std::int64_t>(count);
    pictures += pictures_done * to.height * to.width * to.channels;
    to_bytes +=
        pictures_done * pixels * to.channels * static_cast<std::int64_t>(dtype_bytes(to.dtype));
    cuts = cuts.subspan(count);
  }
  return {};
}

Result<void> normalize_on_gpu(const Normalization& to, std::span<const Cut> cuts,
                              const std::uint8_t* pictures, void* values, void* stream) {
  if (!has_kernels())
    return Error{
        "this build of Brigade has no GPU kernels; build it with nvcc (`brigade docs GPU`)"};
  BRIGADE_ASSIGN(Kernels* const kernels, the_kernels());
  return launch_normalize(*kernels, to, cuts, pictures, values, stream);
}

}  // namespace brigade::cuda
