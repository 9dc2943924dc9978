// Boxes, f32 [<=N, 4]: each becomes the smallest box around what the operation makes of its
// corners, cut at the picture's edges, operation by operation, as torchvision's transforms.v2 do.

#include <algorithm>
#include <array>
#include <cmath>

#include <brigade/text.h>
#include "stages/image/targets/target.h"

namespace brigade {
namespace {

constexpr std::int64_t kBoxNumbers = 4;

enum class BoxFormat : std::uint8_t { xyxy, xywh, cxcywh };

struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;

  double area() const { return (right - left) * (bottom - top); }
  bool is_finite() const {
    return std::isfinite(left) && std::isfinite(top) && std::isfinite(right) &&
           std::isfinite(bottom);
  }
};

Box read_box(const float* row, BoxFormat format) {
  const double a = row[0];
  const double b = row[1];
  const double c = row[2];
  const double d = row[3];
  if (format == BoxFormat::xyxy) return {a, b, c, d};
  if (format == BoxFormat::xywh) return {a, b, a + c, b + d};
  return {a - c / 2, b - d / 2, a + c / 2, b + d / 2};
}

void write_box(const Box& box, BoxFormat format, float* row) {
  const double width = box.right - box.left;
  const double height = box.bottom - box.top;
  std::array<double, 4> numbers{box.left, box.top, box.right, box.bottom};
  if (format == BoxFormat::xywh) numbers = {box.left, box.top, width, height};
  if (format == BoxFormat::cxcywh)
    numbers = {box.left + width / 2, box.top + height / 2, width, height};
  for (std::size_t i = 0; i < numbers.size(); ++i) row[i] = static_cast<float>(numbers[i]);
}

Box cut_at_edges(const Box& box, PictureSize size) {
  const auto x = [&](double at) { return std::clamp(at, 0.0, static_cast<double>(size.width)); };
  const auto y = [&](double at) { return std::clamp(at, 0.0, static_cast<double>(size.height)); };
  return {x(box.left), y(box.top), x(box.right), y(box.bottom)};
}

/// Around the four corners, and of a field, which bends edges, around places on these, too; without
/// area where one of them is nowhere.
Box moved(const Box& box, const PictureMove& move) {
  Box out{HUGE_VAL, HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
  const int parts = move.kind == PictureMove::Kind::field ? 8 : 1;
  for (int i = 0; i <= parts; ++i)
    for (int j = 0; j <= parts; ++j) {
      if (i % parts != 0 && j % parts != 0) continue;
      const auto place = move.forward({std::lerp(box.left, box.right, double(i) / parts),
                                       std::lerp(box.top, box.bottom, double(j) / parts)});
      if (!place) return {};
      out = {std::min(out.left, place->x), std::min(out.top, place->y),
             std::max(out.right, place->x), std::max(out.bottom, place->y)};
    }
  return out;
}

class Boxes : public Target {
 public:
  struct Params {
    std::string name = "boxes";
    BoxFormat format = BoxFormat::xyxy;
    double share_min = 0;
    std::vector<std::string> with;
  };
  explicit Boxes(const Params& params) : params_(params) {}

  Result<void> add_outputs(const Ports& in, const PictureDims&, Ports& out) const override {
    BRIGADE_ASSIGN(TensorType type, target_type(in, params_.name));
    if (type.dtype != f32 || type.shape.size() != 2 || type.shape[1] != Dim(kBoxNumbers))
      return Error{concat("expected boxes f32[<=N, 4], found ", type.text())};
    BRIGADE_TRY(add_companions(in, type, params_.with, out));
    type.shape[0] = up_to(type.shape[0].size, type.shape[0].expected);
    return add_output(out, std::move(type));
  }

  Result<void> write(const Inputs& in, const PictureTrip& trip, Outputs& out) override {
    const TensorView boxes = in[params_.name];
    const std::int64_t count = boxes.shape()[0];
    numbers_.resize(static_cast<std::size_t>(count * kBoxNumbers));
    rows_.kept.resize(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      const float* const row = boxes.as<float>().data() + i * kBoxNumbers;
      const Box box = read_box(row, params_.format);
      if (auto good = check(box, row, i, trip.from); !good) return good.error();
      float* const to = numbers_.data() + i * kBoxNumbers;
      rows_.kept[static_cast<std::size_t>(i)] = follow(box, trip, to) ? 1 : 0;
    }
    BRIGADE_TRY(write_rows(numbers_.data(), boxes.shape(), rows_, out[params_.name]));
    return write_companions(in, rows_, params_.with, out);
  }

  const std::string& name() const override { return params_.name; }
  std::vector<std::string> companions() const override { return params_.with; }
  const RowFilter* rows() const override { return &rows_; }
  void leave(const std::string& name) override { std::erase(params_.with, name); }

 private:
  Result<void> check(const Box& box, const float* row, std::int64_t i, PictureSize size) const {
    const auto wrong = [&](std::string_view what) {
      return Error{concat(params_.name, ", row ", i, ": [", row[0], ", ", row[1], ", ", row[2],
                          ", ", row[3], "] ", what)};
    };
    if (!box.is_finite()) return wrong("has a number that is not finite");
    if (box.right < box.left || box.bottom < box.top)
      return wrong(params_.format == BoxFormat::xyxy
                       ? "ends before it begins; check `format:` (xywh or cxcywh?)"
                       : "has a negative width or height; check `format:` (xyxy?)");
    if (box.left < -kSlackPixels || box.top < -kSlackPixels ||
        box.right > static_cast<double>(size.width) + kSlackPixels ||
        box.bottom > static_cast<double>(size.height) + kSlackPixels)
      return wrong(concat("is outside its image of ", size.height, " x ", size.width,
                          " pixels; give boxes in pixels, in the format of `format:`"));
    return {};
  }

  /// Whether it stays.
  bool follow(const Box& before, const PictureTrip& trip, float* to) const {
    Box box = cut_at_edges(before, trip.from);
    double share = 1;
    for (const PictureMove& move : trip.moves) {
      const Box whole = moved(box, move);
      box = cut_at_edges(whole, move.to);
      if (!(box.area() > 0)) return false;
      share *= box.area() / whole.area();
    }
    write_box(box, params_.format, to);
    return box.area() > 0 && share >= params_.share_min;
  }

  Params params_;
  std::vector<float> numbers_;
  RowFilter rows_;
};

}  // namespace

TargetType boxes_target() {
  return target<Boxes>(
      Contract<Boxes::Params>("boxes",
                              "Boxes, one per row; boxes that leave the image are omitted.")
          .param("name", &Boxes::Params::name, "name of the tensor, f32[<=N, 4], in pixels")
          .choice(
              "format", &Boxes::Params::format,
              {{"xyxy", BoxFormat::xyxy}, {"xywh", BoxFormat::xywh}, {"cxcywh", BoxFormat::cxcywh}},
              "two corners, corner and size, or center and size")
          .param("share_min", &Boxes::Params::share_min, 0, 1,
                 "smallest share of a box's area that must remain in the image; other boxes are "
                 "omitted")
          .param(
              "with", &Boxes::Params::with,
              "tensors with one row per box, such as labels; their rows are omitted with the box"));
}

}  // namespace brigade
