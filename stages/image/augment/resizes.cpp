// Operations that resize: all of the picture, or a random part.

#include <algorithm>
#include <cstdint>
#include <vector>

#include <brigade/text.h>
#include "stages/image/augment/canvas.h"
#include "stages/image/augment/operation.h"
#include "stages/image/geometry/crop.h"
#include "stages/image/geometry/cubic.h"
#include "stages/image/geometry/resample.h"

namespace brigade {
namespace {

enum class ResizeFilter : std::uint8_t { bilinear, bicubic, nearest };

/// Resizes a window of the canvas: by a triangle (geometry/resample.h), a cubic filter
/// (geometry/cubic.h) or the nearest pixel. One thread; memory is kept between images.
class WindowResizer {
 public:
  struct Options {
    ResizeFilter filter = ResizeFilter::bilinear;
    bool antialias = true;  ///< of bilinear and bicubic
  };

  /// The window lies within the picture, its first pixel at (y, x).
  void run(Canvas& canvas, std::int64_t y, std::int64_t x, PictureSize window, PictureSize size,
           const Options& options);

 private:
  void bilinear(Canvas& canvas, std::int64_t y, std::int64_t x, PictureSize window,
                PictureSize size, bool antialias);
  void nearest(Canvas& canvas, std::int64_t y, std::int64_t x, PictureSize window,
               PictureSize size);

  AxisWeights rows_;
  AxisWeights columns_;
  Resampler resampler_;
  CubicResizer cubic_;
  std::vector<std::int64_t> offsets_;
};

void WindowResizer::run(Canvas& canvas, std::int64_t y, std::int64_t x, PictureSize window,
                        PictureSize size, const Options& options) {
  canvas.note({.to = size, .y = y, .x = x, .window = window});
  if (options.filter == ResizeFilter::bilinear)
    return bilinear(canvas, y, x, window, size, options.antialias);
  if (options.filter == ResizeFilter::nearest) return nearest(canvas, y, x, window, size);
  const std::int64_t stride = canvas.row_bytes();
  const std::int64_t channels = canvas.channels();
  const CubicPixels in{canvas.pixels() + y * stride + x * channels, stride, window.height,
                       window.width, channels};
  cubic_.run(in, size.height, size.width, options.antialias, canvas.other(size));
}

void WindowResizer::bilinear(Canvas& canvas, std::int64_t y, std::int64_t x, PictureSize window,
                             PictureSize size, bool antialias) {
  rows_.prepare({window.height, size.height, 0, size.height}, antialias);
  columns_.prepare({window.width, size.width, 0, size.width}, antialias);
  const std::int64_t channels = canvas.channels();
  const std::int64_t stride = canvas.row_bytes();
  const std::uint8_t* const first = canvas.pixels() + (y + rows_.first_needed()) * stride +
                                    (x + columns_.first_needed()) * channels;
  const Pixels needed{first, stride, rows_.end_needed() - rows_.first_needed(),
                      columns_.end_needed() - columns_.first_needed(), static_cast<int>(channels)};
  resampler_.run(needed, rows_, columns_, canvas.other(size), size.width * channels);
}

void WindowResizer::nearest(Canvas& canvas, std::int64_t y, std::int64_t x, PictureSize window,
                            PictureSize size) {
  const std::int64_t channels = canvas.channels();
  const std::int64_t stride = canvas.row_bytes();
  const std::uint8_t* const first = canvas.pixels() + y * stride + x * channels;
  offsets_.resize(static_cast<std::size_t>(size.width));
  for (std::int64_t i = 0; i < size.width; ++i)
    offsets_[static_cast<std::size_t>(i)] = nearest_index(i, window.width, size.width) * channels;
  std::uint8_t* to = canvas.other(size);
  for (std::int64_t row = 0; row < size.height; ++row) {
    const std::uint8_t* const from =
        first + nearest_index(row, window.height, size.height) * stride;
    for (const std::int64_t offset : offsets_)
      for (std::int64_t c = 0; c < channels; ++c) *to++ = from[offset + c];
  }
}

class Resize : public Operation {
 public:
  struct Params {
    std::vector<std::int64_t> size;
    ResizeFilter interpolation = ResizeFilter::bilinear;
    bool antialias = true;
    Result<void> check() const {
      if (size.size() == 1 || size.size() == 2) return {};
      return Error{"expected size as [pixels of the shorter side] or [height, width]"};
    }
  };
  explicit Resize(const Params& params) : params_(params) {}
  /// One number: of the shorter side; the longer is rounded down, as torchvision does.
  Result<PictureSize> size_of(PictureSize in) const override {
    const auto& size = params_.size;
    if (size.size() == 2) return of_bounded_sides({size[0], size[1]});
    PictureSize out{size[0], size[0]};
    if (in.height <= in.width) {
      out.width = in.width * size[0] / std::max<std::int64_t>(in.height, 1);
    } else {
      out.height = in.height * size[0] / std::max<std::int64_t>(in.width, 1);
    }
    return of_bounded_sides(out);
  }
  std::optional<PictureSize> fixed_size() const override {
    if (params_.size.size() == 2) return PictureSize{params_.size[0], params_.size[1]};
    return std::nullopt;
  }
  bool keeps_size() const override { return false; }
  void run(Canvas& canvas, Philox&) override {
    const PictureSize in = canvas.size();
    resizer_.run(canvas, 0, 0, in, size_of(in).value(), {params_.interpolation, params_.antialias});
  }

 private:
  Params params_;
  WindowResizer resizer_;
};

/// The part is chosen as decode_image chooses it (geometry/crop.h).
class RandomResizedCrop : public Operation {
 public:
  struct Params {
    SidesParam size;
    std::vector<double> scale = {0.08, 1};
    std::vector<double> ratio = {0.75, 4.0 / 3};
    ResizeFilter interpolation = ResizeFilter::bilinear;
    bool antialias = true;
    Result<void> check() const {
      for (const auto* range : {&scale, &ratio})
        if (range->size() != 2 || (*range)[0] > (*range)[1])
          return Error{"expected a lower and an upper limit for scale and ratio, such as [0.5, 1]"};
      return {};
    }
  };
  explicit RandomResizedCrop(const Params& params) : params_(params), size_(params.size.size()) {
    choice_.scale = params.scale;
    choice_.ratio = params.ratio;
  }
  Result<PictureSize> size_of(PictureSize) const override { return size_; }
  std::optional<PictureSize> fixed_size() const override { return size_; }
  bool draws() const override { return true; }
  void run(Canvas& canvas, Philox& random) override {
    const PictureSize in = canvas.size();
    const Cut cut = choose_cut(choice_, in.height, in.width, random);
    resizer_.run(canvas, cut.rows.begin, cut.columns.begin, {cut.rows.size, cut.columns.size},
                 size_, {params_.interpolation, params_.antialias});
  }

 private:
  Params params_;
  PictureSize size_;
  DecodeImageParams choice_;
  WindowResizer resizer_;
};

/// The two parameters of whatever resizes.
template <class P>
Contract<P> with_filter(Contract<P> table) {
  return table
      .choice("interpolation", &P::interpolation,
              {{"bilinear", ResizeFilter::bilinear},
               {"bicubic", ResizeFilter::bicubic},
               {"nearest", ResizeFilter::nearest}},
              "how values between pixels are computed")
      .param("antialias", &P::antialias,
             "use every pixel when the image shrinks; has no effect on nearest");
}

}  // namespace

void add_resizes(std::vector<OperationType>& types) {
  types.push_back(operation<RandomResizedCrop>(
      with_filter(Contract<RandomResizedCrop::Params>(
                      "random_resized_crop", "Cuts out a random part and resizes it to one size.")
                      .param("size", &RandomResizedCrop::Params::size,
                             "side of a square in pixels, or [height, width]")
                      .required()
                      .param("scale", &RandomResizedCrop::Params::scale, 0, 1,
                             "limits of the part's share of the image area")
                      .param("ratio", &RandomResizedCrop::Params::ratio, 0.01, 100,
                             "limits of the part's width / height"))));
  types.push_back(operation<Resize>(
      with_filter(Contract<Resize::Params>("resize", "Resizes the whole image.")
                      .param("size", &Resize::Params::size, 1, static_cast<double>(kPictureSideMax),
                             "size in pixels: [shorter side] or [height, width]")
                      .required())));
}

}  // namespace brigade
