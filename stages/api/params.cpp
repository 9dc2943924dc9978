#include <brigade/params.h>

#include <charconv>
#include <cmath>
#include <limits>

#include <brigade/text.h>
#include "base/units.h"

namespace brigade {
namespace {

std::string found(const ParamValue& value) {
  switch (value.kind) {
    case ParamValue::Kind::null:
      return "found nothing";
    case ParamValue::Kind::scalar:
      return concat("found ", quote(value.text));
    case ParamValue::Kind::list:
      return "found a list";
    case ParamValue::Kind::map:
      return "found a map";
  }
  return {};
}

Error expected(std::string_view what, const ParamValue& value) {
  return Error{concat("expected ", what, ", ", found(value))};
}

template <class Int>
Result<void> parse_integer(const ParamValue& value, Int& out) {
  using Limits = std::numeric_limits<Int>;
  const std::string_view what = param_type_name(ParamType::integer);
  if (value.kind != ParamValue::Kind::scalar) return expected(what, value);
  const char* const first = value.text.data();
  const char* const last = first + value.text.size();
  Int number{};
  const auto [end, error] = std::from_chars(first, last, number);
  // A negative text for an unsigned number is "invalid" to from_chars, but out of range to people.
  std::int64_t negative = 0;
  const bool below = std::is_unsigned_v<Int> && value.text.starts_with('-') &&
                     std::from_chars(first, last, negative).ptr == last;
  if (below || (error == std::errc::result_out_of_range && end == last))
    return expected(concat(what, " from ", Limits::min(), " to ", Limits::max()), value);
  if (error != std::errc{} || end != last) return expected(what, value);
  out = number;
  return {};
}

Result<void> parse_path(const ParamValue& value, ParamType type, std::string& out) {
  const bool given = value.kind != ParamValue::Kind::null;
  if (given && (value.kind != ParamValue::Kind::scalar || value.text.empty()))
    return expected(param_type_name(type), value);
  out = value.text;
  return {};
}

ParamValue print_path(const std::string& path) {
  return path.empty() ? ParamValue{} : ParamValue::scalar(path);
}

template <class T>
Result<void> parse_list(const ParamValue& value, ParamType type, std::vector<T>& out) {
  if (value.kind != ParamValue::Kind::list) return expected(param_type_name(type), value);
  std::vector<T> items(value.items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (auto parsed = parse_param(value.items[i], items[i]); !parsed)
      return parsed.error().within(concat("item ", i + 1));
  }
  out = std::move(items);
  return {};
}

template <class T>
ParamValue print_list(const std::vector<T>& values) {
  ParamValue out;
  out.kind = ParamValue::Kind::list;
  for (const T& value : values) out.items.push_back(print_param(value));
  return out;
}

/// In the unit of ParamSpec's range: bytes, nanoseconds, or the number itself.
Result<double> range_value(ParamType type, const ParamValue& value) {
  if (type == ParamType::size) {
    ByteSize size;
    BRIGADE_TRY(parse_param(value, size));
    return static_cast<double>(size.bytes);
  }
  if (type == ParamType::duration) {
    Duration duration;
    BRIGADE_TRY(parse_param(value, duration));
    return static_cast<double>(duration.nanoseconds);
  }
  double number = 0;
  BRIGADE_TRY(parse_param(value, number));
  return number;
}

std::string range_end(ParamType type, double value) {
  if (type == ParamType::size) return print_size(static_cast<std::uint64_t>(value));
  if (type == ParamType::duration)
    return print_duration(std::chrono::nanoseconds(static_cast<std::int64_t>(value)));
  if (std::abs(value) < 0x1p63 && value == std::floor(value))
    return concat(static_cast<std::int64_t>(value));
  return concat(value);
}

std::string_view item_type_name(ParamType type) {
  if (type == ParamType::integers) return param_type_name(ParamType::integer);
  if (type == ParamType::numbers || type == ParamType::number_or_range)
    return param_type_name(ParamType::number);
  return param_type_name(type);
}

Result<void> check_range(const ParamSpec& spec, const ParamValue& canonical,
                         const ParamValue& written) {
  if (spec.type == ParamType::integer_or_all && canonical.text == "all") return {};
  BRIGADE_ASSIGN(const double number, range_value(spec.type, canonical));
  const bool low = spec.minimum && number < *spec.minimum;
  const bool high = spec.maximum && number > *spec.maximum;
  if (!low && !high) return {};
  return expected(concat(item_type_name(spec.type), ' ', param_range_text(spec)), written);
}

}  // namespace

std::string param_range_text(const ParamSpec& spec) {
  const bool from = spec.minimum && std::isfinite(*spec.minimum);
  const bool to = spec.maximum && std::isfinite(*spec.maximum);
  if (from && to)
    return concat("from ", range_end(spec.type, *spec.minimum), " to ",
                  range_end(spec.type, *spec.maximum));
  if (from) return concat("of at least ", range_end(spec.type, *spec.minimum));
  if (to) return concat("of at most ", range_end(spec.type, *spec.maximum));
  return {};
}

Result<void> set_param(const ParamSpec& spec, void* params, const ParamValue& value) {
  if (spec.required && value.kind == ParamValue::Kind::null)
    return expected(param_type_name(spec.type), value);
  const ParamValue before = spec.get(params);
  BRIGADE_TRY(spec.set(params, value));
  if (!spec.minimum && !spec.maximum) return {};
  const ParamValue canonical = spec.get(params);
  Result<void> in_range;
  if (canonical.kind != ParamValue::Kind::list) {
    in_range = check_range(spec, canonical, value);
  } else {
    for (std::size_t i = 0; i < canonical.items.size() && in_range; ++i) {
      auto item = check_range(spec, canonical.items[i], value.items[i]);
      if (!item) in_range = item.error().within(concat("item ", i + 1));
    }
  }
  if (!in_range) BRIGADE_TRY(spec.set(params, before));
  return in_range;
}

Error choice_error(const std::vector<std::string>& choices, const ParamValue& value) {
  return expected(concat("one of ", join(choices, ", ")), value);
}

Result<void> parse_param(const ParamValue& value, bool& out) {
  const bool yes = value.text == "true";
  if (value.kind != ParamValue::Kind::scalar || (!yes && value.text != "false"))
    return expected(param_type_name(ParamType::flag), value);
  out = yes;
  return {};
}

Result<void> parse_param(const ParamValue& value, int& out) { return parse_integer(value, out); }

Result<void> parse_param(const ParamValue& value, std::int64_t& out) {
  return parse_integer(value, out);
}

Result<void> parse_param(const ParamValue& value, std::uint64_t& out) {
  return parse_integer(value, out);
}

Result<void> parse_param(const ParamValue& value, double& out) {
  const std::string_view what = param_type_name(ParamType::number);
  if (value.kind != ParamValue::Kind::scalar) return expected(what, value);
  const char* const last = value.text.data() + value.text.size();
  double number = 0;
  const auto [end, error] = std::from_chars(value.text.data(), last, number);
  if (error != std::errc{} || end != last || !std::isfinite(number)) return expected(what, value);
  out = number;
  return {};
}

Result<void> parse_param(const ParamValue& value, std::string& out) {
  if (value.kind != ParamValue::Kind::scalar)
    return expected(param_type_name(ParamType::text), value);
  out = value.text;
  return {};
}

Result<void> parse_param(const ParamValue& value, InputPath& out) {
  return parse_path(value, ParamType::input_path, out.path);
}

Result<void> parse_param(const ParamValue& value, OutputPath& out) {
  return parse_path(value, ParamType::output_path, out.path);
}

Result<void> parse_param(const ParamValue& value, ByteSize& out) {
  if (value.kind != ParamValue::Kind::scalar)
    return expected(param_type_name(ParamType::size), value);
  BRIGADE_ASSIGN(out.bytes, parse_size(value.text));
  return {};
}

Result<void> parse_param(const ParamValue& value, Duration& out) {
  if (value.kind != ParamValue::Kind::scalar)
    return expected(param_type_name(ParamType::duration), value);
  BRIGADE_ASSIGN(const std::chrono::nanoseconds duration, parse_duration(value.text));
  out.nanoseconds = duration.count();
  return {};
}

Result<void> parse_param(const ParamValue& value, DType& out) {
  const auto dtype =
      value.kind == ParamValue::Kind::scalar ? parse_dtype(value.text) : std::nullopt;
  if (!dtype) return expected(param_type_name(ParamType::dtype), value);
  out = *dtype;
  return {};
}

Result<void> parse_param(const ParamValue& value, std::vector<std::int64_t>& out) {
  return parse_list(value, ParamType::integers, out);
}

Result<void> parse_param(const ParamValue& value, std::vector<double>& out) {
  return parse_list(value, ParamType::numbers, out);
}

Result<void> parse_param(const ParamValue& value, std::vector<std::string>& out) {
  return parse_list(value, ParamType::texts, out);
}

Result<void> parse_param(const ParamValue& value, InputPaths& out) {
  if (value.kind != ParamValue::Kind::map)
    return expected(param_type_name(ParamType::input_paths), value);
  InputPaths read;
  for (const auto& [name, item] : value.entries) {
    std::string path;
    if (item.kind == ParamValue::Kind::scalar) path = item.text;
    if (path.empty()) return Error{concat(quote(name), ": expected a path, ", found(item))};
    read.files.emplace_back(name, std::move(path));
  }
  out = std::move(read);
  return {};
}

Result<void> parse_param(const ParamValue& value, InputFiles& out) {
  if (value.kind == ParamValue::Kind::scalar && !value.text.empty()) {
    out.patterns = {value.text};
    return {};
  }
  std::vector<std::string> patterns;
  if (value.kind != ParamValue::Kind::list || value.items.empty())
    return expected(param_type_name(ParamType::input_files), value);
  BRIGADE_TRY(parse_list(value, ParamType::input_files, patterns));
  for (std::size_t i = 0; i < patterns.size(); ++i)
    if (patterns[i].empty())
      return Error{concat("item ", i + 1, ": expected a path, ", found(value.items[i]))};
  out.patterns = std::move(patterns);
  return {};
}

Result<void> parse_param(const ParamValue& value, TextMap& out) {
  if (value.kind != ParamValue::Kind::map)
    return expected(param_type_name(ParamType::text_map), value);
  TextMap read;
  for (const auto& [name, item] : value.entries) {
    TextMap::Entry& entry = read.entries.emplace_back();
    entry.name = name;
    entry.is_list = item.kind == ParamValue::Kind::list;
    auto parsed = entry.is_list ? parse_param(item, entry.texts)
                                : parse_param(item, entry.texts.emplace_back());
    if (!parsed) return parsed.error().within(quote(name));
  }
  out = std::move(read);
  return {};
}

ParamValue print_param(bool value) { return ParamValue::scalar(value ? "true" : "false"); }
ParamValue print_param(std::int64_t value) { return ParamValue::scalar(concat(value)); }
ParamValue print_param(std::uint64_t value) { return ParamValue::scalar(concat(value)); }
ParamValue print_param(double value) { return ParamValue::scalar(concat(value)); }
ParamValue print_param(const std::string& value) { return ParamValue::scalar(value); }
ParamValue print_param(const InputPath& value) { return print_path(value.path); }
ParamValue print_param(const OutputPath& value) { return print_path(value.path); }
ParamValue print_param(const ByteSize& value) {
  return ParamValue::scalar(print_size(value.bytes));
}
ParamValue print_param(const Duration& value) {
  return ParamValue::scalar(print_duration(std::chrono::nanoseconds(value.nanoseconds)));
}
ParamValue print_param(DType value) { return ParamValue::scalar(std::string(dtype_name(value))); }
ParamValue print_param(const std::vector<std::int64_t>& value) { return print_list(value); }
ParamValue print_param(const std::vector<double>& value) { return print_list(value); }
ParamValue print_param(const std::vector<std::string>& value) { return print_list(value); }

ParamValue print_param(const InputPaths& value) {
  ParamValue out;
  out.kind = ParamValue::Kind::map;
  for (const auto& [name, path] : value.files)
    out.entries.emplace_back(name, ParamValue::scalar(path));
  return out;
}

ParamValue print_param(const InputFiles& value) {
  return value.patterns.empty() ? ParamValue{} : print_list(value.patterns);
}

ParamValue print_param(const TextMap& value) {
  ParamValue out;
  out.kind = ParamValue::Kind::map;
  for (const auto& [name, texts, is_list] : value.entries)
    out.entries.emplace_back(name, is_list ? print_list(texts) : ParamValue::scalar(texts[0]));
  return out;
}

std::string_view param_type_name(ParamType type) {
  switch (type) {
    case ParamType::flag:
      return "true or false";
    case ParamType::integer:
      return "a whole number";
    case ParamType::number:
      return "a number";
    case ParamType::text:
      return "a text";
    case ParamType::input_path:
      return "the path of a file or folder";
    case ParamType::output_path:
      return "the path of a file to write";
    case ParamType::size:
      return "a size such as 64MiB";
    case ParamType::duration:
      return "a duration such as 100ms";
    case ParamType::dtype:
      return "a dtype (bool u8 i8 i16 i32 i64 f16 bf16 f32 f64)";
    case ParamType::integers:
      return "a list of whole numbers such as [1, 2]";
    case ParamType::numbers:
      return "a list of numbers such as [0.5, 1]";
    case ParamType::texts:
      return "a list of texts such as [a, b]";
    case ParamType::input_paths:
      return "a map of names to files such as {a: a.npy}";
    case ParamType::input_files:
      return "a file or a list of files such as train-{000..146}.tar";
    case ParamType::text_map:
      return "a map of names to texts such as {a: b, c: [d, e]}";
    case ParamType::number_or_range:
      return "a number or two limits such as [0.6, 1.4]";
    case ParamType::integer_or_all:
      return "a whole number or `all`";
    case ParamType::operations:
      return "a list of names, some with parameters, such as [first, {second: {size: 4}}]";
    case ParamType::choice:
      return "one of a few names";
  }
  return "a value";
}

}  // namespace brigade
