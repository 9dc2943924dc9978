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

#include <brigade/export.h>
#include <brigade/result.h>
#include <brigade/tensor.h>

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

/// A file or folder that must exist. A stage sees an absolute path; in YAML, relative paths are
/// relative to the file that contains them. Empty: not set (null as a value), which is allowed for
/// an optional parameter.
struct InputPath {
  std::string path;
};
/// A file that the stage writes; its folder must exist. Empty: not set.
struct OutputPath {
  std::string path;
};
/// Files that must exist, by name: `{image: images.npy, label: labels.npy}`, in the order written.
struct InputPaths {
  std::vector<std::pair<std::string, std::string>> files;  ///< name, path
};
/// Files that must exist, one or several: `a.bin`, `[a.bin, b.bin]`, `train-{000..146}.tar`,
/// `train-*.tar` (list_files() of file_patterns.h resolves them). Relative paths have been made
/// absolute.
struct InputFiles {
  std::vector<std::string> patterns;
};
/// Texts by name: `{features: [width, height], label: species}`, in the order written.
struct TextMap {
  struct Entry {
    std::string name;
    std::vector<std::string> texts;
    bool is_list = false;  ///< `[a]` is a list of one text, `a` is a text
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::vector<Entry> entries;

  /// Null if the name does not exist.
  const Entry* find(std::string_view name) const {
    for (const Entry& entry : entries)
      if (entry.name == name) return &entry;
    return nullptr;
  }
};
struct ByteSize {
  std::uint64_t bytes = 0;  ///< written `64MiB`
};
struct Duration {
  std::int64_t nanoseconds = 0;  ///< written `100ms`
};

// One overload per type a parameter may have. Errors say what was expected and found:
// `expected a whole number, found "fast"`.
BRIGADE_API Result<void> parse_param(const ParamValue& value, bool& out);
BRIGADE_API Result<void> parse_param(const ParamValue& value, int& out);
BRIGADE_API Result<void> parse_param(const ParamValue& value, std::int64_t& out);
BRIGADE_API Result<void> parse_param(const ParamValue& value, std::uint64_t& out);
BRIGADE_API Result<void> parse_param(const ParamValue& value, double& out);
BRIGADE_API Result<void> parse_param(const ParamValue& value, std::string& out);
BRIGADE_API Result<void> parse_param(const ParamValue& value, InputPath& out);
BRIGADE_API Result<void> parse_param(const ParamValue& value, OutputPath& out);
BRIGADE_API Result<void> parse_param(const ParamValue& value, ByteSize& out);
BRIGADE_API Result<void> parse_param(const ParamValue& value, Duration& out);
BRIGADE_API Result<void> parse_param(const ParamValue& value, DType& out);
BRIGADE_API Result<void> parse_param(const ParamValue& value, std::vector<std::int64_t>& out);
BRIGADE_API Result<void> parse_param(const ParamValue& value, std::vector<double>& out);
BRIGADE_API Result<void> parse_param(const ParamValue& value, std::vector<std::string>& out);
BRIGADE_API Result<void> parse_param(const ParamValue& value, InputPaths& out);
BRIGADE_API Result<void> parse_param(const ParamValue& value, InputFiles& out);
BRIGADE_API Result<void> parse_param(const ParamValue& value, TextMap& out);

// The canonical form of a value: parse_param(print_param(x)) == x.
BRIGADE_API ParamValue print_param(bool value);
BRIGADE_API ParamValue print_param(std::int64_t value);
inline ParamValue print_param(int value) { return print_param(std::int64_t{value}); }
BRIGADE_API ParamValue print_param(std::uint64_t value);
BRIGADE_API ParamValue print_param(double value);
BRIGADE_API ParamValue print_param(const std::string& value);
BRIGADE_API ParamValue print_param(const InputPath& value);
BRIGADE_API ParamValue print_param(const OutputPath& value);
BRIGADE_API ParamValue print_param(const ByteSize& value);
BRIGADE_API ParamValue print_param(const Duration& value);
BRIGADE_API ParamValue print_param(DType value);
BRIGADE_API ParamValue print_param(const std::vector<std::int64_t>& value);
BRIGADE_API ParamValue print_param(const std::vector<double>& value);
BRIGADE_API ParamValue print_param(const std::vector<std::string>& value);
BRIGADE_API ParamValue print_param(const InputPaths& value);
BRIGADE_API ParamValue print_param(const InputFiles& value);
BRIGADE_API ParamValue print_param(const TextMap& value);

/// Name of a parameter's type in messages and in the JSON schema.
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
  input_paths,
  input_files,
  text_map,
  number_or_range,
  integer_or_all,
  operations,
  choice
};
/// "a whole number", "a size such as 64MiB", ...
BRIGADE_API std::string_view param_type_name(ParamType type);

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

template <>
constexpr ParamType param_type_of<InputPaths>() {
  return ParamType::input_paths;
}
template <>
constexpr ParamType param_type_of<InputFiles>() {
  return ParamType::input_files;
}
template <>
constexpr ParamType param_type_of<TextMap>() {
  return ParamType::text_map;
}

/// One row of a stage type's parameter table.
struct ParamSpec {
  std::string name;
  std::string help;  ///< one line, with the unit
  ParamType type = ParamType::text;
  bool required = false;
  ParamValue default_value;  ///< canonical; null when required
  /// Inclusive; of numbers and of each item of lists. Sizes in bytes, durations in nanoseconds.
  std::optional<double> minimum;
  std::optional<double> maximum;
  std::vector<std::string> choices;  ///< of ParamType::choice

  /// Parses a value into the bound member of `params`, without a range check: callers use
  /// set_param().
  std::function<Result<void>(void* params, const ParamValue& value)> set;
  /// The member's canonical form.
  std::function<ParamValue(const void* params)> get;
};

/// Parses a value, checks its range and stores it in the bound member of `params`. An error leaves
/// the member unchanged. A required parameter rejects null. The error does not name the parameter,
/// which the caller does: `expected a number from 0 to 1, found "2"`.
BRIGADE_API Result<void> set_param(const ParamSpec& spec, void* params, const ParamValue& value);

/// The range for messages and help: "from 0 to 1", "of at least 1"; empty without a range.
BRIGADE_API std::string param_range_text(const ParamSpec& spec);

/// `expected one of a, b, c, found "d"`.
BRIGADE_API Error choice_error(const std::vector<std::string>& choices, const ParamValue& value);

}  // namespace brigade
