// augment_image: pads an image with zeros on all sides, cuts a square out of it at a random place,
// and mirrors that left to right by chance. What it draws is part of its promise, in this order,
// from the random numbers of the sample:
//
//   y     below(H + 2 * pad - crop + 1)   first row of the cut in the padded image
//   x     below(W + 2 * pad - crop + 1)   first column
//   flip  chance(flip)
//
// A draw with one possible outcome is left out (so a centred, unflipped copy draws nothing).

#include <algorithm>
#include <cstring>

#include <brigade/text.h>
#include "stages/image/image_stages.h"

namespace brigade {
namespace {

struct AugmentParams {
  std::int64_t pad = 0;
  std::int64_t crop = 0;
  double flip = 0;
};

constexpr double kPixelsMax = 1 << 16;

/// Sizes in pixels; `channels` bytes each.
struct Geometry {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::int64_t pad = 0;
  std::int64_t out_height = 0;
  std::int64_t out_width = 0;
};

Result<Geometry> geometry_of(const AugmentParams& params, const TensorType& image) {
  if (image.ragged())
    return Error{
        concat("expected images of one size, found ", image.text(), "; resize them upstream")};
  const Shape shape = image.bounds();
  Geometry out{shape[0], shape[1], shape[2], params.pad, shape[0], shape[1]};
  if (params.crop > 0) out.out_height = out.out_width = params.crop;
  const std::int64_t side = std::min(out.height, out.width) + 2 * params.pad;
  if (params.crop > side)
    return Error{concat("crop ", params.crop, " does not fit into the padded image of ",
                        out.height + 2 * params.pad, " x ", out.width + 2 * params.pad,
                        " pixels (image ", out.height, " x ", out.width, ", pad ", params.pad,
                        "); choose a smaller crop, or a pad of at least ",
                        params.pad + (params.crop - side + 1) / 2)};
  return out;
}

Contract<AugmentParams> augment_image_contract() {
  return Contract<AugmentParams>("augment_image",
                                 "Pads, crops and mirrors an image at random, for training.")
      .transform()
      .param("pad", &AugmentParams::pad, 0, kPixelsMax, "pixels of zeros added on every side")
      .param("crop", &AugmentParams::crop, 0, kPixelsMax,
             "side in pixels of the square cut out at a random position; 0: keep height and width")
      .param("flip", &AugmentParams::flip, 0, 1, "probability of mirroring left to right")
      .input("image", {DType::u8}, {any_size, any_size, any_size}, "HWC")
      .rest_passes()
      .draws([](const AugmentParams& params) {
        return params.pad > 0 || params.crop > 0 || params.flip > 0;
      })
      .private_bytes("", [](const AugmentParams&) { return 0U; })
      .outputs([](const AugmentParams& params, const Ports& in) -> Result<Ports> {
        const TensorType& image = *in.find("image");
        BRIGADE_ASSIGN(const Geometry to, geometry_of(params, image));
        return Ports{{"image", DType::u8, {to.out_height, to.out_width, to.channels}}};
      })
      .example("transform: augment_image\nfrom: images\nparams: {pad: 2, crop: 28, flip: 0.5}\n");
}

/// Along one dimension: `count` pixels from `from` in the input go to `to` in the output; the
/// output's other pixels are padding.
struct Overlap {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t count = 0;
};

Overlap visible(std::int64_t offset, std::int64_t pad, std::int64_t in, std::int64_t out) {
  const std::int64_t first = offset - pad;  // input pixel under output pixel 0
  const std::int64_t begin = std::clamp<std::int64_t>(-first, 0, out);
  const std::int64_t end = std::clamp<std::int64_t>(in - first, begin, out);
  return end == begin ? Overlap{} : Overlap{begin + first, begin, end - begin};
}

/// Copies bytes in reverse, eight at a time; the last eight may overlap those before.
void reverse_bytes(const std::uint8_t* from, std::uint8_t* to, std::int64_t count) {
  if (count < 8) {
    std::reverse_copy(from, from + count, to);
    return;
  }
  const auto move = [=](std::int64_t at) {
    std::uint64_t word;
    std::memcpy(&word, from + at, sizeof word);
    word = __builtin_bswap64(word);
    std::memcpy(to + count - 8 - at, &word, sizeof word);
  };
  for (std::int64_t at = 0; at + 8 <= count; at += 8) move(at);
  move(count - 8);
}

void reverse_pixels(const std::uint8_t* from, std::uint8_t* to, std::int64_t count,
                    std::int64_t channels) {
  if (channels == 1) return reverse_bytes(from, to, count);
  for (std::int64_t i = count - 1; i >= 0; --i, from += channels)
    for (std::int64_t c = 0; c < channels; ++c) to[i * channels + c] = from[c];
}

/// Columns [begin, end) in bytes of `rows` rows; by columns, as there are few.
void zero_columns(std::uint8_t* first_row, std::int64_t stride, std::int64_t rows,
                  std::int64_t begin, std::int64_t end) {
  for (std::int64_t column = begin; column < end; ++column)
    for (std::int64_t row = 0; row < rows; ++row) first_row[row * stride + column] = 0;
}

class AugmentImage : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    const auto& params = context.params<AugmentParams>();
    BRIGADE_ASSIGN(to_, geometry_of(params, *context.inputs.find("image")));
    flip_ = params.flip;
    rows_free_ = to_.height + 2 * to_.pad - to_.out_height + 1;
    columns_free_ = to_.width + 2 * to_.pad - to_.out_width + 1;
    return {};
  }

  Result<Next> process(const Inputs& in, Outputs& out) override {
    Philox random = in.random();
    const std::int64_t y = draw(random, rows_free_);
    const std::int64_t x = draw(random, columns_free_);
    const bool flip = flip_ >= 1 || (flip_ > 0 && random.chance(flip_));
    Overlap rows = visible(y, to_.pad, to_.height, to_.out_height);
    Overlap columns = visible(x, to_.pad, to_.width, to_.out_width);
    if (columns.count == 0) rows = Overlap{};  // nothing but padding
    if (flip) columns.to = to_.out_width - columns.to - columns.count;
    copy(in["image"].as<std::uint8_t>().data(), out["image"].as<std::uint8_t>().data(), rows,
         columns, flip);
    return Next::emit;
  }

 private:
  static std::int64_t draw(Philox& random, std::int64_t choices) {
    if (choices == 1) return 0;
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(choices)));
  }

  void copy(const std::uint8_t* image, std::uint8_t* out, const Overlap& rows,
            const Overlap& columns, bool flip) const {
    const std::int64_t channels = to_.channels;
    const std::int64_t in_stride = to_.width * channels;
    const std::int64_t out_stride = to_.out_width * channels;
    const std::int64_t bytes = columns.count * channels;
    const std::uint8_t* from = image + rows.from * in_stride + columns.from * channels;
    std::uint8_t* const first_row = out + rows.to * out_stride;
    std::uint8_t* to = first_row + columns.to * channels;

    std::memset(out, 0, static_cast<std::size_t>(rows.to * out_stride));
    if (flip) {
      for (std::int64_t row = 0; row < rows.count; ++row, from += in_stride, to += out_stride)
        reverse_pixels(from, to, columns.count, channels);
    } else if (in_stride == out_stride && rows.count > 0) {
      // Rows of one length: a shifted image is one shifted run of bytes. What it puts into the
      // padding of the columns is zeroed below.
      std::memcpy(to, from, static_cast<std::size_t>((rows.count - 1) * out_stride + bytes));
    } else {
      for (std::int64_t row = 0; row < rows.count; ++row, from += in_stride, to += out_stride)
        std::memcpy(to, from, static_cast<std::size_t>(bytes));
    }
    zero_columns(first_row, out_stride, rows.count, 0, columns.to * channels);
    zero_columns(first_row, out_stride, rows.count, columns.to * channels + bytes, out_stride);
    const std::int64_t below = rows.to + rows.count;
    std::memset(out + below * out_stride, 0,
                static_cast<std::size_t>((to_.out_height - below) * out_stride));
  }

  Geometry to_;
  double flip_ = 0;
  std::int64_t rows_free_ = 1;  // places for the cut
  std::int64_t columns_free_ = 1;
};

}  // namespace

void add_augment_image(StageTypes& types) { types.add<AugmentImage>(augment_image_contract()); }

}  // namespace brigade
