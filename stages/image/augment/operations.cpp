#include "stages/image/augment/operations.h"

#include <algorithm>

#include <brigade/text.h>
#include "stages/image/augment/operation_kinds.h"

namespace brigade {
namespace {

std::vector<OperationType> all_operation_types() {
  std::vector<OperationType> types;
  add_cuts(types);
  add_warps(types);
  add_colors(types);
  add_histograms(types);
  add_filters(types);
  add_erasing(types);
  add_policies(types);
  return types;
}

const OperationType* find_operation(std::string_view name) {
  for (const OperationType& type : operation_types())
    if (type.name == name) return &type;
  return nullptr;
}

Error unknown_operation(std::string_view name) {
  std::vector<std::string> names;
  for (const OperationType& type : operation_types()) names.push_back(type.name);
  if (const auto meant = did_you_mean(name, names))
    return Error{concat("there is no operation ", quote(name), "; did you mean ", *meant, "?")};
  return Error{concat("there is no operation ", quote(name), "; there are ", join(names, ", "))};
}

Error unknown_param(const OperationType& type, std::string_view name) {
  std::vector<std::string> names;
  for (const ParamSpec& spec : type.params) names.push_back(spec.name);
  return Error{concat("has no parameter ", quote(name), "; it has ",
                      names.empty() ? "none" : join(names, ", "))};
}

Result<std::unique_ptr<Operation>> make_with(const OperationType& type, const ParamValue& given) {
  const std::shared_ptr<void> params = type.make_params();
  for (const auto& entry : given.entries) {
    const std::string& name = entry.first;
    const auto spec = std::find_if(type.params.begin(), type.params.end(),
                                   [&](const ParamSpec& row) { return row.name == name; });
    if (spec == type.params.end()) return unknown_param(type, name);
    if (auto set = set_param(*spec, params.get(), entry.second); !set)
      return set.error().within(name);
  }
  for (const ParamSpec& spec : type.params) {
    const bool is_given = std::any_of(given.entries.begin(), given.entries.end(),
                                      [&](const auto& entry) { return entry.first == spec.name; });
    if (spec.required && !is_given) return Error{concat("needs ", spec.name, ": ", spec.help)};
  }
  return type.make(params.get());
}

Result<std::unique_ptr<Operation>> make_operation(const Operations::Entry& entry) {
  const OperationType* const type = find_operation(entry.name);
  if (type == nullptr) return unknown_operation(entry.name);
  auto made = make_with(*type, entry.params);
  if (!made) return made.error().within(entry.name);
  return made;
}

const std::string kEntryExample = "{random_posterize: {bits: 4}}";

/// `name`, or `{name: {param: value}}`.
Result<Operations::Entry> parse_entry(const ParamValue& value) {
  if (value.kind == ParamValue::Kind::scalar) return Operations::Entry{value.text, {}};
  if (value.kind != ParamValue::Kind::map || value.entries.size() != 1)
    return Error{"expected a name, or one name with its parameters, such as " + kEntryExample};
  const auto& [name, params] = value.entries.front();
  const bool none = params.kind == ParamValue::Kind::null;
  if (!none && params.kind != ParamValue::Kind::map)
    return Error{concat(name, ": expected its parameters as a map, such as ", kEntryExample)};
  return Operations::Entry{name, params};
}

}  // namespace

const std::vector<OperationType>& operation_types() {
  static const std::vector<OperationType> types = all_operation_types();
  return types;
}

Result<void> parse_param(const ParamValue& value, Operations& out) {
  if (value.kind != ParamValue::Kind::list)
    return Error{concat("expected ", param_type_name(ParamType::operations))};
  Operations read;
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    const std::string item = concat("item ", i + 1);
    auto entry = parse_entry(value.items[i]);
    if (!entry) return entry.error().within(item);
    if (auto made = make_operation(*entry); !made) return made.error().within(item);
    read.entries.push_back(std::move(*entry));
  }
  out = std::move(read);
  return {};
}

ParamValue print_param(const Operations& value) {
  ParamValue out;
  out.kind = ParamValue::Kind::list;
  for (const auto& [name, params] : value.entries) {
    ParamValue item = ParamValue::scalar(name);
    if (params.kind == ParamValue::Kind::map) {
      item = {ParamValue::Kind::map, {}, {}, {}};
      item.entries.emplace_back(name, params);
    }
    out.items.push_back(std::move(item));
  }
  return out;
}

std::vector<std::unique_ptr<Operation>> make_operations(const Operations& operations) {
  std::vector<std::unique_ptr<Operation>> made;
  for (const Operations::Entry& entry : operations.entries)
    made.push_back(make_operation(entry).value());
  return made;
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
  return Error{concat(name, ": one number is how far values lie from the middle, and cannot be ",
                      "negative; found ", low)};
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
    return Error{concat("expected pixels of a square such as 224, or [height, width], from 1 to ",
                        kPictureSideMax, ", at most ", kPicturePixelsMax, " in all")};
  out = {sides.front(), sides.back()};
  return {};
}

ParamValue print_param(const SidesParam& value) {
  if (value.height == value.width) return print_param(value.height);
  return print_param(std::vector<std::int64_t>{value.height, value.width});
}

}  // namespace brigade
