// Keypoints: places in the picture, by themselves, f32 [<=N, 2], or with a visibility, f32 [<=N,
// 3], of which 0 is "not there" (COCO's words); of several objects f32 [<=N, K, 3].

#include <algorithm>
#include <cmath>

#include <brigade/text.h>
#include "stages/image/targets/target.h"

namespace brigade {
namespace {

class Keypoints : public Target {
 public:
  struct Params {
    std::string name = "keypoints";
    std::vector<std::string> with;
  };
  explicit Keypoints(const Params& params) : params_(params) {}

  Result<void> add_outputs(const Ports& in, const PictureDims&, Ports& out) const override {
    BRIGADE_ASSIGN(TensorType type, target_type(in, params_.name));
    const bool visibility = !type.shape.empty() && type.shape.back() == Dim(3);
    const bool pairs = type.shape.size() == 2 && type.shape.back() == Dim(2);
    const bool objects = type.shape.size() == 3 && type.shape[1].kind == Dim::Kind::exact;
    if (type.dtype != f32 || (!pairs && !(visibility && (type.shape.size() == 2 || objects))))
      return Error{concat("expected keypoints f32[<=N, 2], f32[<=N, 3] or f32[<=N, K, 3], found ",
                          type.text())};
    if (!pairs && !params_.with.empty())
      return Error{concat("with: only keypoints [<=N, 2] omit rows; keypoints with a ",
                          "visibility keep them, found ", type.text())};
    if (pairs && follows_ != nullptr)
      return Error{concat("keypoints that belong to boxes need a visibility, f32[<=N, 3] or ",
                          "f32[<=N, K, 3], found ", type.text())};
    BRIGADE_TRY(add_companions(in, type, params_.with, out));
    if (pairs || follows_ != nullptr)
      type.shape[0] = up_to(type.shape[0].size, type.shape[0].expected);
    return add_output(out, std::move(type));
  }

  Result<void> write(const Inputs& in, const PictureTrip& trip, Outputs& out) override {
    const TensorView from = in[params_.name];
    const Shape& shape = from.shape();
    const auto numbers = from.as<float>();
    numbers_.assign(numbers.begin(), numbers.end());
    const std::int64_t columns = shape[shape.rank() - 1];
    rows_.kept.assign(static_cast<std::size_t>(shape[0]), 1);
    for (std::int64_t i = 0; i < shape.elements() / columns; ++i) {
      BRIGADE_ASSIGN(const bool inside, follow(i, columns, trip));
      if (columns == 2) rows_.kept[static_cast<std::size_t>(i)] = inside ? 1 : 0;
    }
    const RowFilter& rows = follows_ != nullptr ? *follows_ : rows_;
    if (rows.kept.size() != rows_.kept.size())
      return Error{concat(params_.name, " has ", rows_.kept.size(), " rows, its boxes have ",
                          rows.kept.size())};
    BRIGADE_TRY(write_rows(numbers_.data(), shape, rows, out[params_.name]));
    return write_companions(in, rows_, params_.with, out);
  }

  const std::string& name() const override { return params_.name; }
  std::vector<std::string> companions() const override { return params_.with; }
  bool follow_rows(std::string_view name, const RowFilter& rows) override {
    if (name != params_.name || follows_ != nullptr) return false;
    follows_ = &rows;
    return true;
  }

 private:
  /// Whether it is in the picture.
  Result<bool> follow(std::int64_t i, std::int64_t columns, const PictureTrip& trip) {
    float* const numbers = numbers_.data() + i * columns;
    bool there = columns == 2 || numbers[2] != 0;
    const auto is_finite = [](float number) { return std::isfinite(number); };
    if (there && !std::all_of(numbers, numbers + columns, is_finite))
      return Error{concat(params_.name, ", point ", i, ": [", numbers[0], ", ", numbers[1],
                          columns == 3 ? concat(", ", numbers[2]) : "",
                          "] has a number that is not finite")};
    PicturePoint place{numbers[0], numbers[1]};
    // A border that is added later does not bring back what was never in the picture.
    there = there && is_inside(place, trip.from, kSlackPixels);
    for (const PictureMove& move : trip.moves) {
      if (!there) break;
      const auto next = move.forward(place);
      there = next && is_inside(*next, move.to);
      if (there) place = *next;
    }
    there = there && is_inside(place, trip.to);
    numbers[0] = there ? static_cast<float>(place.x) : 0;
    numbers[1] = there ? static_cast<float>(place.y) : 0;
    if (columns == 3 && !there) numbers[2] = 0;
    return there;
  }

  static bool is_inside(PicturePoint place, PictureSize size, double slack = 0) {
    return place.x >= -slack && place.y >= -slack &&
           place.x <= static_cast<double>(size.width) + slack &&
           place.y <= static_cast<double>(size.height) + slack;
  }

  Params params_;
  std::vector<float> numbers_;
  RowFilter rows_;
  const RowFilter* follows_ = nullptr;
};

}  // namespace

TargetType keypoints_target() {
  return target<Keypoints>(
      Contract<Keypoints::Params>(
          "keypoints",
          "Points; outside the image their visibility becomes 0, or the row is omitted.")
          .param(
              "name", &Keypoints::Params::name,
              "name of the tensor, f32[<=N, 2], or with visibility f32[<=N, 3] or f32[<=N, K, 3]")
          .param("with", &Keypoints::Params::with,
                 "for f32[<=N, 2]: tensors with one row per point; their rows are omitted with the "
                 "point"));
}

}  // namespace brigade
