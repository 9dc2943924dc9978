#pragma once

// Parameters of a stage type: a plain struct whose members are bound to names, with defaults (the
// struct's own), ranges and help. Checks, `--help`, docs and the JSON schema are made from this
// table. Values arrive as text trees (from YAML or a plan), so that this header knows neither.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "stages/api/tensor.h"

namespace brigade {

/// A value as written: a scalar's text, a list or a map. null: no value.
struct ParamValue {
  enum class Kind : std::uint8_t { null, scalar, list, map } kind = Kind::null;
  std::string text;
  std::vector<ParamValue> items;
  std::vector<std::pair<std::string, ParamValue>> entries;

  static ParamValue scalar(std::string value) { return {Kind::scalar, std::move(value), {}, {}}; }
  friend bool operator==(const ParamValue&, const ParamValue&) = default;
};

/// A file or folder that must exist. Relative paths have been made absolute by the time a stage
/// sees them: they are relative to the YAML file that says them.
struct InputPath {
  std::string path;
};
/// A file that the stage will write; its folder must exist.
struct OutputPath {
  std::string path;
};
struct ByteSize {
  std::uint64_t bytes = 0;  ///< written `64MiB`
};
struct Duration {
  std::int64_t nanoseconds = 0;  ///< written `100ms`
};

// One overload per type a parameter may have. Errors say what was expected and found:
// `expected a whole number, found "fast"`.
Result<void> parse_param(const ParamValue& value, bool& out);
Result<void> parse_param(const ParamValue& value, int& out);
Result<void> parse_param(const ParamValue& value, std::int64_t& out);
Result<void> parse_param(const ParamValue& value, std::uint64_t& out);
Result<void> parse_param(const ParamValue& value, double& out);
Result<void> parse_param(const ParamValue& value, std::string& out);
Result<void> parse_param(const ParamValue& value, InputPath& out);
Result<void> parse_param(const ParamValue& value, OutputPath& out);
Result<void> parse_param(const ParamValue& value, ByteSize& out);
Result<void> parse_param(const ParamValue& value, Duration& out);
Result<void> parse_param(const ParamValue& value, DType& out);
Result<void> parse_param(const ParamValue& value, std::vector<std::int64_t>& out);
Result<void> parse_param(const ParamValue& value, std::vector<double>& out);
Result<void> parse_param(const ParamValue& value, std::vector<std::string>& out);

// The canonical form of a value: parse_param(print_param(x)) == x.
ParamValue print_param(bool value);
ParamValue print_param(std::int64_t value);
inline ParamValue print_param(int value) { return print_param(std::int64_t{value}); }
ParamValue print_param(std::uint64_t value);
ParamValue print_param(double value);
ParamValue print_param(const std::string& value);
ParamValue print_param(const InputPath& value);
ParamValue print_param(const OutputPath& value);
ParamValue print_param(const ByteSize& value);
ParamValue print_param(const Duration& value);
ParamValue print_param(DType value);
ParamValue print_param(const std::vector<std::int64_t>& value);
ParamValue print_param(const std::vector<double>& value);
ParamValue print_param(const std::vector<std::string>& value);

/// How a parameter's type is called in messages and in the JSON schema.
enum class ParamType : std::uint8_t {
  flag,
  integer,
  number,
  text,
  input_path,
  output_path,
  size,
  duration,
  dtype,
  integers,
  numbers,
  texts,
  choice
};
std::string_view param_type_name(ParamType type);  ///< "a whole number", "a path", ...

template <class T>
constexpr ParamType param_type_of();
template <>
constexpr ParamType param_type_of<bool>() {
  return ParamType::flag;
}
template <>
constexpr ParamType param_type_of<int>() {
  return ParamType::integer;
}
template <>
constexpr ParamType param_type_of<std::int64_t>() {
  return ParamType::integer;
}
template <>
constexpr ParamType param_type_of<std::uint64_t>() {
  return ParamType::integer;
}
template <>
constexpr ParamType param_type_of<double>() {
  return ParamType::number;
}
template <>
constexpr ParamType param_type_of<std::string>() {
  return ParamType::text;
}
template <>
constexpr ParamType param_type_of<InputPath>() {
  return ParamType::input_path;
}
template <>
constexpr ParamType param_type_of<OutputPath>() {
  return ParamType::output_path;
}
template <>
constexpr ParamType param_type_of<ByteSize>() {
  return ParamType::size;
}
template <>
constexpr ParamType param_type_of<Duration>() {
  return ParamType::duration;
}
template <>
constexpr ParamType param_type_of<DType>() {
  return ParamType::dtype;
}
template <>
constexpr ParamType param_type_of<std::vector<std::int64_t>>() {
  return ParamType::integers;
}
template <>
constexpr ParamType param_type_of<std::vector<double>>() {
  return ParamType::numbers;
}
template <>
constexpr ParamType param_type_of<std::vector<std::string>>() {
  return ParamType::texts;
}

/// One row of a stage type's parameter table.
struct ParamSpec {
  std::string name;
  std::string help;  ///< one line, with the unit
  ParamType type = ParamType::text;
  bool required = false;
  ParamValue default_value;       ///< canonical; null when required
  std::optional<double> minimum;  ///< of numbers, and of each element of lists
  std::optional<double> maximum;
  std::vector<std::string> choices;  ///< of ParamType::choice

  /// Parses and range-checks a value into the bound member of `params`.
  std::function<Result<void>(void* params, const ParamValue& value)> set;
  /// The member's canonical form.
  std::function<ParamValue(const void* params)> get;
};

}  // namespace brigade
