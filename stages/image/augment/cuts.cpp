// Operations that move pixels along the axes: pad, crops, flips and resize.

#include <algorithm>
#include <array>
#include <cstring>

#include <brigade/text.h>
#include "stages/image/augment/operation_kinds.h"
#include "stages/image/geometry/crop.h"
#include "stages/image/geometry/resample.h"

namespace brigade {
namespace {

std::int64_t draw_below(Philox& random, std::int64_t choices) {
  if (choices <= 1) return 0;
  return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(choices)));
}

Result<PictureSize> of_bounded_sides(PictureSize size) {
  const std::int64_t longer = std::max(size.height, size.width);
  if (longer <= kPictureSideMax && size.pixels() <= kPicturePixelsMax) return size;
  return Error{concat("it would have ", size.height, " x ", size.width, " pixels; a side has ",
                      kPictureSideMax, " at most, a picture ", kPicturePixelsMax)};
}

/// The window of `size` pixels whose first pixel is (y, x) of the picture; what lies outside of it
/// has the value `fill`.
void cut_window(Canvas& canvas, std::int64_t y, std::int64_t x, PictureSize size,
                std::uint8_t fill) {
  const PictureSize in = canvas.size();
  const std::uint8_t* const from = canvas.pixels();
  const std::int64_t channels = canvas.channels();
  canvas.note({.to = size, .y = y, .x = x, .window = size});
  std::uint8_t* const to = canvas.other(size);
  const std::int64_t rows_begin = std::clamp<std::int64_t>(-y, 0, size.height);
  const std::int64_t rows_end = std::clamp<std::int64_t>(in.height - y, rows_begin, size.height);
  const std::int64_t begin = std::clamp<std::int64_t>(-x, 0, size.width);
  const std::int64_t end = std::clamp<std::int64_t>(in.width - x, begin, size.width);
  const std::int64_t row = size.width * channels;
  const auto set = [fill](std::uint8_t* first, std::int64_t bytes) {
    std::memset(first, fill, static_cast<std::size_t>(bytes));
  };
  set(to, rows_begin * row);
  for (std::int64_t i = rows_begin; i < rows_end; ++i) {
    std::uint8_t* const line = to + i * row;
    set(line, begin * channels);
    if (begin < end)
      std::memcpy(line + begin * channels, from + ((y + i) * in.width + x + begin) * channels,
                  static_cast<std::size_t>((end - begin) * channels));
    set(line + end * channels, (size.width - end) * channels);
  }
  set(to + rows_end * row, (size.height - rows_end) * row);
}

/// Resizes RGB pictures, and grey ones as RGB.
class WindowResizer {
 public:
  void run(Canvas& canvas, std::int64_t y, std::int64_t x, PictureSize window, PictureSize size,
           bool antialias) {
    canvas.note({.to = size, .y = y, .x = x, .window = window});
    rows_.prepare({window.height, size.height, 0, size.height}, antialias);
    columns_.prepare({window.width, size.width, 0, size.width}, antialias);
    const std::int64_t channels = canvas.channels();
    const std::int64_t stride = canvas.row_bytes();
    const std::uint8_t* const first = canvas.pixels() + (y + rows_.first_needed()) * stride +
                                      (x + columns_.first_needed()) * channels;
    Pixels needed{first, stride, rows_.end_needed() - rows_.first_needed(),
                  columns_.end_needed() - columns_.first_needed()};
    if (channels == kRgbChannels) {
      resampler_.run(needed, rows_, columns_, canvas.other(size), size.width * kRgbChannels);
      return;
    }
    needed = as_rgb(needed);
    small_.resize(static_cast<std::size_t>(size.pixels() * kRgbChannels));
    resampler_.run(needed, rows_, columns_, small_.data(), size.width * kRgbChannels);
    std::uint8_t* const to = canvas.other(size);
    for (std::int64_t i = 0; i < size.pixels(); ++i)
      to[i] = small_[static_cast<std::size_t>(i * kRgbChannels)];
  }

 private:
  Pixels as_rgb(const Pixels& grey) {
    colors_.resize(static_cast<std::size_t>(grey.height * grey.width * kRgbChannels));
    std::uint8_t* to = colors_.data();
    for (std::int64_t y = 0; y < grey.height; ++y)
      for (std::int64_t x = 0; x < grey.width; ++x, to += kRgbChannels)
        std::memset(to, grey.data[y * grey.stride + x], kRgbChannels);
    return {colors_.data(), grey.width * kRgbChannels, grey.height, grey.width};
  }

  AxisWeights rows_;
  AxisWeights columns_;
  Resampler resampler_;
  std::vector<std::uint8_t> colors_;
  std::vector<std::uint8_t> small_;
};

class Pad : public Operation {
 public:
  struct Params {
    std::vector<std::int64_t> padding = {0};
    std::int64_t fill = 0;
    Result<void> check() const {
      if (padding.size() == 1 || padding.size() == 2 || padding.size() == 4) return {};
      return Error{
          "padding is [all], [left and right, top and bottom] or [left, top, right, bottom]"};
    }
  };
  explicit Pad(const Params& params) : fill_(static_cast<std::uint8_t>(params.fill)) {
    const auto& sides = params.padding;
    for (std::size_t i = 0; i < sides_.size(); ++i) sides_[i] = sides[i % sides.size()];
  }
  Result<PictureSize> size_of(PictureSize in) const override {
    return of_bounded_sides({in.height + sides_[1] + sides_[3], in.width + sides_[0] + sides_[2]});
  }
  bool keeps_size() const override {
    return std::all_of(sides_.begin(), sides_.end(), [](auto side) { return side == 0; });
  }
  void run(Canvas& canvas, Philox&) override {
    cut_window(canvas, -sides_[1], -sides_[0], size_of(canvas.size()).value(), fill_);
  }

 private:
  std::array<std::int64_t, 4> sides_{};  // left, top, right, bottom
  std::uint8_t fill_;
};

class CenterCrop : public Operation {
 public:
  struct Params {
    SidesParam size;
  };
  explicit CenterCrop(const Params& params) : size_(params.size.size()) {}
  Result<PictureSize> size_of(PictureSize) const override { return size_; }
  std::optional<PictureSize> fixed_size() const override { return size_; }
  void run(Canvas& canvas, Philox&) override {
    const PictureSize in = canvas.size();
    cut_window(canvas, first(in.height, size_.height), first(in.width, size_.width), size_, 0);
  }

 private:
  /// Rounded to even, as Python does; a border's smaller half comes first.
  static std::int64_t first(std::int64_t in, std::int64_t out) {
    const std::int64_t spare = in - out;
    if (spare < 0) return -((out - in) / 2);
    return spare / 2 + (spare % 4 == 3 ? 1 : 0);
  }
  PictureSize size_;
};

class RandomCrop : public Operation {
 public:
  struct Params {
    SidesParam size;
    std::int64_t padding = 0;
    bool pad_if_needed = false;
    std::int64_t fill = 0;
  };
  explicit RandomCrop(const Params& params) : params_(params), size_(params.size.size()) {}
  Result<PictureSize> size_of(PictureSize in) const override {
    const PictureSize padded{in.height + 2 * params_.padding, in.width + 2 * params_.padding};
    if (!params_.pad_if_needed && (padded.height < size_.height || padded.width < size_.width))
      return Error{concat("a crop of ", size_.height, " x ", size_.width, " does not fit into ",
                          padded.height, " x ", padded.width,
                          " pixels; `pad_if_needed: true`, a padding, or a resize before it would "
                          "do")};
    return size_;
  }
  std::optional<PictureSize> fixed_size() const override { return size_; }
  bool draws() const override { return true; }
  void run(Canvas& canvas, Philox& random) override {
    const std::int64_t y = first(canvas.size().height, size_.height, random);
    const std::int64_t x = first(canvas.size().width, size_.width, random);
    cut_window(canvas, y, x, size_, static_cast<std::uint8_t>(params_.fill));
  }

 private:
  /// Of the window, relative to the picture. What is short is added on both sides, as torchvision
  /// does.
  std::int64_t first(std::int64_t in, std::int64_t out, Philox& random) const {
    const std::int64_t padded = in + 2 * params_.padding;
    const std::int64_t before = params_.padding + std::max<std::int64_t>(out - padded, 0);
    const std::int64_t all = padded + 2 * std::max<std::int64_t>(out - padded, 0);
    return draw_below(random, all - out + 1) - before;
  }
  Params params_;
  PictureSize size_;
};

class Flip : public Operation {
 public:
  struct Params {
    double p = 0.5;
  };
  explicit Flip(const Params& params) : p_(params.p) {}
  bool draws() const override { return uncertain(p_); }
  void run(Canvas& canvas, Philox& random) override {
    if (happens(random, p_)) flip(canvas);
  }

 protected:
  virtual void flip(Canvas& canvas) = 0;

 private:
  double p_;
};

class HorizontalFlip : public Flip {
  using Flip::Flip;
  void flip(Canvas& canvas) override {
    const std::uint8_t* from = canvas.pixels();
    const std::int64_t channels = canvas.channels();
    const PictureSize size = canvas.size();
    canvas.note({.kind = PictureMove::Kind::flip_columns, .to = size});
    std::uint8_t* to = canvas.other(size);
    for (std::int64_t y = 0; y < size.height; ++y, to += size.width * channels) {
      std::uint8_t* last = to + size.width * channels;
      for (std::int64_t x = 0; x < size.width; ++x, from += channels) {
        last -= channels;
        for (std::int64_t c = 0; c < channels; ++c) last[c] = from[c];
      }
    }
  }
};

class VerticalFlip : public Flip {
  using Flip::Flip;
  void flip(Canvas& canvas) override {
    const std::int64_t row = canvas.row_bytes();
    const std::uint8_t* const from = canvas.pixels();
    const PictureSize size = canvas.size();
    canvas.note({.kind = PictureMove::Kind::flip_rows, .to = size});
    std::uint8_t* const to = canvas.other(size);
    for (std::int64_t y = 0; y < size.height; ++y)
      std::memcpy(to + y * row, from + (size.height - 1 - y) * row, static_cast<std::size_t>(row));
  }
};

class Resize : public Operation {
 public:
  struct Params {
    std::vector<std::int64_t> size;
    bool antialias = true;
    Result<void> check() const {
      if (size.size() == 1 || size.size() == 2) return {};
      return Error{"size is [pixels of the shorter side] or [height, width]"};
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
    resizer_.run(canvas, 0, 0, in, size_of(in).value(), params_.antialias);
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
    bool antialias = true;
    Result<void> check() const {
      for (const auto* range : {&scale, &ratio})
        if (range->size() != 2 || (*range)[0] > (*range)[1])
          return Error{"scale and ratio are a lower and an upper limit such as [0.5, 1]"};
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
                 size_, params_.antialias);
  }

 private:
  Params params_;
  PictureSize size_;
  DecodeImageParams choice_;
  WindowResizer resizer_;
};

constexpr const char* kFillHelp = "level of the pixels that are added";

}  // namespace

void add_cuts(std::vector<OperationType>& types) {
  types.push_back(operation<Pad>(
      Contract<Pad::Params>("pad", "Adds a border.")
          .param("padding", &Pad::Params::padding, 0, static_cast<double>(kPictureSideMax),
                 "pixels: [all], [left and right, top and bottom] or [left, top, right, bottom]")
          .required()
          .param("fill", &Pad::Params::fill, 0, 255, kFillHelp)));
  types.push_back(operation<CenterCrop>(
      Contract<CenterCrop::Params>("center_crop",
                                   "The middle; smaller pictures get a black border.")
          .param("size", &CenterCrop::Params::size, "pixels of a square, or [height, width]")
          .required()));
  types.push_back(operation<RandomCrop>(
      Contract<RandomCrop::Params>("random_crop", "A part at a random place.")
          .param("size", &RandomCrop::Params::size, "pixels of a square, or [height, width]")
          .required()
          .param("padding", &RandomCrop::Params::padding, 0, static_cast<double>(kPictureSideMax),
                 "pixels added on every side before")
          .param("pad_if_needed", &RandomCrop::Params::pad_if_needed,
                 "pictures that are too small get a border; otherwise they are an error")
          .param("fill", &RandomCrop::Params::fill, 0, 255, kFillHelp)));
  types.push_back(operation<RandomResizedCrop>(
      Contract<RandomResizedCrop::Params>("random_resized_crop",
                                          "A random part, resized to one size.")
          .param("size", &RandomResizedCrop::Params::size, "pixels of a square, or [height, width]")
          .required()
          .param("scale", &RandomResizedCrop::Params::scale, 0, 1,
                 "limits of the part's share of the area")
          .param("ratio", &RandomResizedCrop::Params::ratio, 0.01, 100,
                 "limits of the part's width / height")
          .param("antialias", &RandomResizedCrop::Params::antialias,
                 "whether every pixel counts where the part shrinks")));
  types.push_back(operation<Resize>(
      Contract<Resize::Params>("resize", "Resizes by a triangle filter (bilinear).")
          .param("size", &Resize::Params::size, 1, static_cast<double>(kPictureSideMax),
                 "pixels: [shorter side] or [height, width]")
          .required()
          .param("antialias", &Resize::Params::antialias,
                 "whether every pixel counts where pictures shrink")));
  types.push_back(operation<HorizontalFlip>(
      Contract<Flip::Params>("random_horizontal_flip", "Mirrors left to right.")
          .param("p", &Flip::Params::p, 0, 1, "probability")));
  types.push_back(operation<VerticalFlip>(
      Contract<Flip::Params>("random_vertical_flip", "Mirrors top to bottom.")
          .param("p", &Flip::Params::p, 0, 1, "probability")));
}

}  // namespace brigade
