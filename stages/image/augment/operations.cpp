#include "stages/image/augment/operations.h"

#include <algorithm>

#include <brigade/text.h>
#include "stages/api/other_names.h"
#include "stages/image/augment/operation.h"

namespace brigade {
namespace {

std::vector<OperationType> all_operation_types() {
  std::vector<OperationType> types;
  add_cuts(types);
  add_resizes(types);
  add_warps(types);
  add_colors(types);
  add_histograms(types);
  add_filters(types);
  add_erasing(types);
  add_policies(types);
  return types;
}

Result<std::unique_ptr<Operation>> make_operation(const ListedEntry& entry) {
  if (find_listed(operation_types(), entry.name) == nullptr) {
    if (const auto here = operation_elsewhere(entry.name))
      return Error{concat("unknown operation ", quote(entry.name), "; write ", *here)};
    if (const auto known = stage_elsewhere(entry.name))
      return Error{concat("unknown operation ", quote(entry.name), "; ", *known)};
  }
  return make_listed(operation_types(), entry, "operation");
}

}  // namespace

const std::vector<OperationType>& operation_types() {
  static const std::vector<OperationType> types = all_operation_types();
  return types;
}

Result<void> parse_param(const ParamValue& value, Operations& out) {
  BRIGADE_ASSIGN(
      out.entries,
      parse_listed(value, {"operations", "random_invert", "{random_posterize: {bits: 4}}"},
                   [](const ListedEntry& entry) -> Result<void> {
                     BRIGADE_TRY(make_operation(entry));
                     return {};
                   }));
  return {};
}

ParamValue print_param(const Operations& value) { return print_listed(value.entries); }

std::vector<std::unique_ptr<Operation>> make_operations(const Operations& operations) {
  std::vector<std::unique_ptr<Operation>> made;
  for (const ListedEntry& entry : operations.entries) made.push_back(make_operation(entry).value());
  return made;
}

Result<void> of_gray_or_rgb(std::int64_t channels) {
  if (channels == kGreyChannels || channels == kRgbChannels) return {};
  return Error{
      concat("needs images with 1 (gray) or 3 (RGB) channels, found ", channels, " channels")};
}

Result<void> parse_param(const ParamValue& value, NumberOrRange& out) {
  double number = 0;
  if (value.kind == ParamValue::Kind::scalar) {
    BRIGADE_TRY(parse_param(value, number));
    out = {number, number, false};
    return {};
  }
  std::vector<double> limits;
  const bool list = value.kind == ParamValue::Kind::list && parse_param(value, limits);
  if (!list || limits.size() != 2 || limits[0] > limits[1])
    return Error{concat("expected a number, or a lower and an upper limit such as [0.6, 1.4]")};
  out = {limits[0], limits[1], true};
  return {};
}

Result<void> NumberOrRange::check(std::string_view name) const {
  if (is_range || low >= 0) return {};
  return Error{concat(name, ": a single number is the distance from the middle and cannot be ",
                      "negative, found ", low)};
}

ParamValue print_param(const NumberOrRange& value) {
  if (!value.is_range) return print_param(value.low);
  return print_param(std::vector<double>{value.low, value.high});
}

Result<void> parse_param(const ParamValue& value, SidesParam& out) {
  std::vector<std::int64_t> sides(1);
  if (value.kind == ParamValue::Kind::scalar) {
    BRIGADE_TRY(parse_param(value, sides[0]));
  } else {
    BRIGADE_TRY(parse_param(value, sides));
    if (sides.empty()) sides = {0};
  }
  const auto [low, high] = std::minmax(sides.front(), sides.back());
  if (sides.size() > 2 || low < 1 || high > kPictureSideMax || low > kPicturePixelsMax / high)
    return Error{
        concat("expected the side of a square such as 224, or [height, width], each from 1 to ",
               kPictureSideMax, " pixels, at most ", kPicturePixelsMax, " in all")};
  out = {sides.front(), sides.back()};
  return {};
}

Result<PictureSize> of_bounded_sides(PictureSize size) {
  const std::int64_t longer = std::max(size.height, size.width);
  if (longer <= kPictureSideMax && size.pixels() <= kPicturePixelsMax) return size;
  return Error{concat("the output would have ", size.height, " x ", size.width,
                      " pixels; the limit is ", kPictureSideMax, " per side, and per image ",
                      kPicturePixelsMax)};
}

ParamValue print_param(const SidesParam& value) {
  if (value.height == value.width) return print_param(value.height);
  return print_param(std::vector<std::int64_t>{value.height, value.width});
}

}  // namespace brigade
