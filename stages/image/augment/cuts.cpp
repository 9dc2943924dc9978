// Operations that move pixels along the axes: pad, crops and flips.

#include <algorithm>
#include <array>
#include <cstring>

#include <brigade/text.h>
#include "stages/image/augment/color_kernels.h"
#include "stages/image/augment/operation.h"

namespace brigade {
namespace {

std::int64_t draw_below(Philox& random, std::int64_t choices) {
  if (choices <= 1) return 0;
  return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(choices)));
}

struct Window {
  std::int64_t y = 0;  ///< of its first pixel; may be outside of the picture
  std::int64_t x = 0;
  PictureSize size;
};

/// What lies outside of the picture `from` has the value `fill`.
void copy_window(const std::uint8_t* from, PictureSize in, std::int64_t channels,
                 const Window& window, std::uint8_t fill, std::uint8_t* to) {
  const auto [y, x, size] = window;
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

void cut_window(Canvas& canvas, const Window& window, std::uint8_t fill) {
  const PictureSize in = canvas.size();
  const std::uint8_t* const from = canvas.pixels();
  canvas.note({.to = window.size, .y = window.y, .x = window.x, .window = window.size});
  copy_window(from, in, canvas.channels(), window, fill, canvas.other(window.size));
}

/// Where the middle `out` pixels of `in` begin: rounded to even, as Python does. Of a border the
/// smaller half comes first.
std::int64_t middle_begin(std::int64_t in, std::int64_t out) {
  const std::int64_t spare = in - out;
  if (spare < 0) return -((out - in) / 2);
  return spare / 2 + (spare % 4 == 3 ? 1 : 0);
}

class Pad : public Operation {
 public:
  struct Params {
    std::vector<std::int64_t> padding = {0};
    std::int64_t fill = 0;
    Result<void> check() const {
      if (padding.size() == 1 || padding.size() == 2 || padding.size() == 4) return {};
      return Error{
          "expected padding as [all], [left and right, top and bottom] or [left, top, right, "
          "bottom]"};
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
    cut_window(canvas, {-sides_[1], -sides_[0], size_of(canvas.size()).value()}, fill_);
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
    cut_window(canvas,
               {middle_begin(in.height, size_.height), middle_begin(in.width, size_.width), size_},
               0);
  }

 private:
  PictureSize size_;
};

/// Five pictures, one below the other.
class FiveCrop : public Operation {
 public:
  struct Params {
    SidesParam size;
    Result<void> check() const {
      const std::int64_t pixels = kCrops * size.size().pixels();
      if (pixels <= kPicturePixelsMax) return {};
      return Error{concat("the five crops have ", pixels, " pixels in all, more than the limit of ",
                          kPicturePixelsMax, "; choose a smaller size")};
    }
  };
  explicit FiveCrop(const Params& params) : size_(params.size.size()) {}
  Result<PictureSize> size_of(PictureSize in) const override {
    if (in.height >= size_.height && in.width >= size_.width)
      return PictureSize{kCrops * size_.height, size_.width};
    return Error{concat("crops of ", size_.height, " x ", size_.width, " do not fit into ",
                        in.height, " x ", in.width, " pixels; put a resize before it")};
  }
  std::optional<PictureSize> fixed_size() const override {
    return PictureSize{kCrops * size_.height, size_.width};
  }
  bool keeps_size() const override { return false; }
  std::int64_t pictures() const override { return kCrops; }
  void run(Canvas& canvas, Philox&) override {
    const PictureSize in = canvas.size();
    const std::uint8_t* const from = canvas.pixels();
    const std::int64_t bottom = in.height - size_.height;
    const std::int64_t right = in.width - size_.width;
    std::uint8_t* to = canvas.other({kCrops * size_.height, size_.width});
    for (const auto& [y, x] :
         {std::pair{std::int64_t{0}, std::int64_t{0}},
          {0, right},
          {bottom, 0},
          {bottom, right},
          {middle_begin(in.height, size_.height), middle_begin(in.width, size_.width)}}) {
      copy_window(from, in, canvas.channels(), {y, x, size_}, 0, to);
      to += size_.pixels() * canvas.channels();
    }
  }

 private:
  static constexpr std::int64_t kCrops = 5;
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
      return Error{
          concat("a crop of ", size_.height, " x ", size_.width, " does not fit into ",
                 padded.height, " x ", padded.width,
                 " pixels; set `pad_if_needed: true` or `padding`, or put a resize before it")};
    return size_;
  }
  std::optional<PictureSize> fixed_size() const override { return size_; }
  bool draws() const override { return true; }
  void run(Canvas& canvas, Philox& random) override {
    const std::int64_t y = first(canvas.size().height, size_.height, random);
    const std::int64_t x = first(canvas.size().width, size_.width, random);
    cut_window(canvas, {y, x, size_}, static_cast<std::uint8_t>(params_.fill));
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

void flip_columns(Canvas& canvas) {
  const std::uint8_t* from = canvas.pixels();
  const std::int64_t channels = canvas.channels();
  const PictureSize size = canvas.size();
  canvas.note({.kind = PictureMove::Kind::flip_columns, .to = size});
  std::uint8_t* to = canvas.other(size);
  const std::int64_t row = size.width * channels;
  for (std::int64_t y = 0; y < size.height; ++y, from += row, to += row) {
    if (channels == kRgbChannels) {
      color_kernels().back().reverse(from, size.width, to);
    } else if (channels == kGreyChannels) {
      std::reverse_copy(from, from + row, to);
    } else {
      for (std::int64_t x = 0; x < size.width; ++x)
        std::copy_n(from + x * channels, channels, to + row - (x + 1) * channels);
    }
  }
}

void flip_rows(Canvas& canvas) {
  const std::int64_t row = canvas.row_bytes();
  const std::uint8_t* const from = canvas.pixels();
  const PictureSize size = canvas.size();
  canvas.note({.kind = PictureMove::Kind::flip_rows, .to = size});
  std::uint8_t* const to = canvas.other(size);
  for (std::int64_t y = 0; y < size.height; ++y)
    std::memcpy(to + y * row, from + (size.height - 1 - y) * row, static_cast<std::size_t>(row));
}

constexpr const char* kFillHelp = "level of the added pixels";

}  // namespace

void add_cuts(std::vector<OperationType>& types) {
  types.push_back(operation<Pad>(Contract<Pad::Params>("pad", "Adds a border.")
                                     .param("padding", &Pad::Params::padding, 0,
                                            static_cast<double>(kPictureSideMax),
                                            "width of the border in pixels: [all], [left and "
                                            "right, top and bottom] or [left, top, right, bottom]")
                                     .required()
                                     .param("fill", &Pad::Params::fill, 0, 255, kFillHelp)));
  types.push_back(operation<CenterCrop>(
      Contract<CenterCrop::Params>("center_crop",
                                   "Cuts out the middle; smaller images get a black border.")
          .param("size", &CenterCrop::Params::size,
                 "side of a square in pixels, or [height, width]")
          .required()));
  types.push_back(operation<RandomCrop>(
      Contract<RandomCrop::Params>("random_crop", "Cuts out a part at a random position.")
          .param("size", &RandomCrop::Params::size,
                 "side of a square in pixels, or [height, width]")
          .required()
          .param("padding", &RandomCrop::Params::padding, 0, static_cast<double>(kPictureSideMax),
                 "pixels added on every side before the crop")
          .param("pad_if_needed", &RandomCrop::Params::pad_if_needed,
                 "add a border to images that are too small; without it they are an error")
          .param("fill", &RandomCrop::Params::fill, 0, 255, kFillHelp)));
  types.push_back(operation<FiveCrop>(
      Contract<FiveCrop::Params>(
          "five_crop",
          "Cuts out the four corners and the middle, as a stack; must be the last operation.")
          .param("size", &FiveCrop::Params::size, "side of a square in pixels, or [height, width]")
          .required()));
  types.push_back(operation<Sometimes<flip_columns>>(
      Contract<ChanceParams>("random_horizontal_flip", "Mirrors left to right.")
          .param("p", &ChanceParams::p, 0, 1, "probability")));
  types.push_back(operation<Sometimes<flip_rows>>(
      Contract<ChanceParams>("random_vertical_flip", "Mirrors top to bottom.")
          .param("p", &ChanceParams::p, 0, 1, "probability")));
}

}  // namespace brigade
