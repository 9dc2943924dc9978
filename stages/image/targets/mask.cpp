// A mask: a value for each pixel of the picture, such as a class.

#include <cstring>
#include <limits>
#include <optional>

#include <brigade/text.h>
#include "stages/image/geometry/mask_mover.h"
#include "stages/image/targets/target.h"

namespace brigade {
namespace {

/// Limits of the values of a dtype that masks may have.
struct ValueRange {
  std::int64_t low;
  std::int64_t high;
};
template <class T>
ValueRange range_of() {
  return {static_cast<std::int64_t>(std::numeric_limits<T>::min()),
          static_cast<std::int64_t>(std::numeric_limits<T>::max())};
}
std::optional<ValueRange> values_of(DType dtype) {
  if (dtype == boolean) return range_of<bool>();
  if (dtype == u8) return range_of<std::uint8_t>();
  if (dtype == i8) return range_of<std::int8_t>();
  if (dtype == i16) return range_of<std::int16_t>();
  if (dtype == i32) return range_of<std::int32_t>();
  if (dtype == i64) return range_of<std::int64_t>();
  return std::nullopt;
}

Error of_other_size(std::string_view name, std::int64_t height, std::int64_t width,
                    std::int64_t picture_height, std::int64_t picture_width) {
  return Error{concat(name, " has ", height, " x ", width, " pixels, its image has ",
                      picture_height, " x ", picture_width, "; resize one of them")};
}

class Mask : public Target {
 public:
  struct Params {
    std::string name = "mask";
    std::int64_t fill = 0;
  };
  explicit Mask(const Params& params) : params_(params) {}

  const std::string& name() const override { return params_.name; }

  Result<void> add_outputs(const Ports& in, const PictureDims& dims, Ports& out) const override {
    BRIGADE_ASSIGN(TensorType type, target_type(in, params_.name));
    const auto values = values_of(type.dtype);
    const bool channels = type.shape.size() == 3 && type.shape[2].kind == Dim::Kind::exact;
    if (!values || (type.shape.size() != 2 && !channels))
      return Error{concat("expected a mask of whole numbers, [height, width] or [height, width, ",
                          "channels], found ", type.text())};
    if (params_.fill < values->low || params_.fill > values->high)
      return Error{concat("fill: ", params_.fill, " does not fit ", dtype_name(type.dtype),
                          ", found ", type.text())};
    const auto differ = [](const Dim& a, const Dim& b) {
      return a.kind == Dim::Kind::exact && b.kind == Dim::Kind::exact && a.size != b.size;
    };
    if (differ(type.shape[0], dims.height_before) || differ(type.shape[1], dims.width_before))
      return of_other_size(params_.name, type.shape[0].size, type.shape[1].size,
                           dims.height_before.size, dims.width_before.size);
    type.shape[0] = dims.height;
    type.shape[1] = dims.width;
    return add_output(out, std::move(type));
  }

  Result<void> write(const Inputs& in, const PictureTrip& trip, Outputs& out) override {
    const TensorView mask = in[params_.name];
    Shape shape = mask.shape();
    if (shape[0] != trip.from.height || shape[1] != trip.from.width)
      return of_other_size(params_.name, shape[0], shape[1], trip.from.height, trip.from.width);
    if (!mover_) mover_.emplace(fill_of(mask));
    shape[0] = trip.to.height;
    shape[1] = trip.to.width;
    TensorSlot slot = out[params_.name];
    BRIGADE_TRY(slot.resize(shape));
    mover_->run(static_cast<const std::byte*>(mask.data()), trip.from, trip.moves,
                static_cast<std::byte*>(slot.data()));
    return {};
  }

 private:
  /// Of a pixel. Numbers lie in memory with their lowest byte first.
  std::vector<std::byte> fill_of(const TensorView& mask) const {
    const std::size_t bytes = dtype_bytes(mask.dtype());
    const std::int64_t channels = mask.shape().rank() == 3 ? mask.shape()[2] : 1;
    std::vector<std::byte> fill(bytes * static_cast<std::size_t>(channels));
    for (std::size_t at = 0; at < fill.size(); at += bytes)
      std::memcpy(&fill[at], &params_.fill, bytes);
    return fill;
  }

  Params params_;
  std::optional<MaskMover> mover_;
};

}  // namespace

TargetType mask_target() {
  return target<Mask>(
      Contract<Mask::Params>(
          "mask", "An integer per pixel, such as a class; resizing creates no new values.")
          .param("name", &Mask::Params::name, "name of the tensor, [height, width(, channels)]")
          .param("fill", &Mask::Params::fill, -0x1p31, 0x1p31,
                 "value of pixels outside the image"));
}

}  // namespace brigade
