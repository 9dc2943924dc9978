// Operations that mix each pixel with its neighbours.

#include <algorithm>
#include <cmath>
#include <cstring>

#include <brigade/text.h>
#include "stages/image/augment/adjust.h"
#include "stages/image/augment/blur_kernels.h"
#include "stages/image/augment/operation.h"

namespace brigade {
namespace {

constexpr double kKernelMax = 255;

class GaussianBlur : public Operation {
 public:
  struct Params {
    std::int64_t kernel_size = 0;
    NumberOrRange sigma{0.1, 2, true};
    double p = 1;
    Result<void> check() const {
      if (kernel_size % 2 == 0) return Error{"kernel_size must be odd"};
      if (sigma.low <= 0) return Error{"sigma must be above 0"};
      return {};
    }
  };
  explicit GaussianBlur(const Params& params) : params_(params) {}
  /// The border is a mirror, which has to reach half the kernel far.
  Result<PictureSize> size_of(PictureSize in) const override {
    if (std::min(in.height, in.width) > half()) return in;
    return Error{concat("a kernel of ", params_.kernel_size, " needs images of at least ",
                        half() + 1, " x ", half() + 1, " pixels, found ", in.height, " x ",
                        in.width)};
  }
  bool draws() const override { return uncertain(params_.p) || !params_.sigma.is_one(); }
  void run(Canvas& canvas, Philox& random) override {
    if (!happens(random, params_.p)) return;
    prepare(params_.sigma.draw(random));
    blur(canvas);
  }

 private:
  std::int64_t half() const { return params_.kernel_size / 2; }

  /// From the middle outwards, as far as they matter: all that are left out would add a thousandth
  /// of a level.
  void prepare(double sigma) {
    weights_.clear();
    double sum = -1;  // the middle is counted twice
    for (std::int64_t k = 0; k <= half(); ++k) {
      const double distance = static_cast<double>(k) / sigma;
      weights_.push_back(std::exp(-0.5 * distance * distance));
      sum += 2 * weights_.back();
    }
    constexpr double kIgnored = 1.0 / (1 << 18);
    double ignored = 0;
    while (weights_.size() > 1 && (ignored += 2 * weights_.back() / sum) < kIgnored)
      weights_.pop_back();
    kernel_.resize(weights_.size());
    for (std::size_t k = 0; k < kernel_.size(); ++k)
      kernel_[k] = static_cast<float>(weights_[k] / sum);
  }

  static std::int64_t mirrored(std::int64_t at, std::int64_t count) {
    if (at < 0) return -at;
    return at < count ? at : 2 * (count - 1) - at;
  }

  /// Columns first, into one row of sums; then along that row, mirrored at its ends.
  void blur(Canvas& canvas) {
    const PictureSize size = canvas.size();
    const std::int64_t channels = canvas.channels();
    const std::int64_t row = canvas.row_bytes();
    const std::uint8_t* const from = canvas.pixels();
    std::uint8_t* to = canvas.other(size);
    const std::int64_t reach = std::ssize(kernel_) - 1;
    const std::int64_t border = reach * channels;
    sums_.resize(static_cast<std::size_t>(row + 2 * border));
    rows_.resize(static_cast<std::size_t>(2 * reach + 1));
    const BlurKernels& kernels = blur_kernels().back();
    for (std::int64_t y = 0; y < size.height; ++y, to += row) {
      for (std::int64_t k = -reach; k <= reach; ++k)
        rows_[static_cast<std::size_t>(k + reach)] = from + mirrored(y + k, size.height) * row;
      float* const sums = sums_.data() + border;
      kernels.add_rows(rows_.data() + reach, kernel_, row, sums);
      for (std::int64_t x = 1; x <= reach; ++x)
        for (std::int64_t c = 0; c < channels; ++c) {
          sums[-x * channels + c] = sums[x * channels + c];
          sums[(size.width - 1 + x) * channels + c] = sums[(size.width - 1 - x) * channels + c];
        }
      kernels.add_columns(sums, channels, kernel_, row, to);
    }
  }

  Params params_;
  std::vector<double> weights_;
  std::vector<float> kernel_;
  std::vector<const std::uint8_t*> rows_;
  std::vector<float> sums_;
};

struct SharpnessParams {
  double sharpness_factor = 1;
  double p = 0.5;
};
void sharpen_by(Canvas& canvas, const SharpnessParams& params) {
  adjust_sharpness(canvas, params.sharpness_factor);
}

}  // namespace

void adjust_sharpness(Canvas& canvas, double factor) {
  const PictureSize size = canvas.size();
  if (size.height <= 2 || size.width <= 2) return;
  const std::int64_t channels = canvas.channels();
  const std::int64_t row = canvas.row_bytes();
  const std::uint8_t* const from = canvas.pixels();
  std::uint8_t* const to = canvas.other(size);
  const auto share = static_cast<float>(factor);
  const auto rest = static_cast<float>(1 - factor);
  std::memcpy(to, from, static_cast<std::size_t>(row));
  std::memcpy(to + (size.height - 1) * row, from + (size.height - 1) * row,
              static_cast<std::size_t>(row));
  for (std::int64_t y = 1; y < size.height - 1; ++y) {
    const std::uint8_t* const at = from + y * row;
    std::uint8_t* const line = to + y * row;
    std::memcpy(line, at, static_cast<std::size_t>(channels));
    std::memcpy(line + row - channels, at + row - channels, static_cast<std::size_t>(channels));
    for (std::int64_t i = channels; i < row - channels; ++i) {
      int sum = 4 * at[i];  // and once more below: the middle counts five times
      for (const std::int64_t up : {-row, std::int64_t{0}, row})
        sum += at[i + up - channels] + at[i + up] + at[i + up + channels];
      // A thirteenth never lies in the middle between two levels.
      const auto blurred = static_cast<float>((2 * sum + 13) / 26);
      line[i] = static_cast<std::uint8_t>(
          std::clamp(share * static_cast<float>(at[i]) + rest * blurred, 0.0F, 255.0F));
    }
  }
}

void add_filters(std::vector<OperationType>& types) {
  types.push_back(operation<GaussianBlur>(
      Contract<GaussianBlur::Params>("gaussian_blur", "Blurs.")
          .param("kernel_size", &GaussianBlur::Params::kernel_size, 1, kKernelMax,
                 "side of the kernel in pixels, an odd number")
          .required()
          .param("sigma", &GaussianBlur::Params::sigma, 0, 1000,
                 "limits of the standard deviation in pixels, or one number")
          .param("p", &GaussianBlur::Params::p, 0, 1, "probability")));
  types.push_back(operation<ByChance<SharpnessParams, sharpen_by>>(
      Contract<SharpnessParams>("random_adjust_sharpness", "Sharpens or blurs.")
          .param("sharpness_factor", &SharpnessParams::sharpness_factor, 0, 1000,
                 "0 blurs, 1 keeps the image as it is, more than 1 sharpens")
          .required()
          .param("p", &SharpnessParams::p, 0, 1, "probability")));
}

}  // namespace brigade
