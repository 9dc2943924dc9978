#pragma once

// The classes of named labels, and their numbers: by the order
// of the names, or by the lines of a file. Any thread may read.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/result.h>

namespace brigade {

inline constexpr std::size_t kClassNamesMax = 1 << 16;
inline constexpr std::size_t kClassNameBytesMax = 256;

class ClassNames {
 public:
  ClassNames() = default;
  /// 0, 1, ... in the names' order, bytewise; a name may come several times. An error where there
  /// are more than kClassNamesMax.
  static Result<ClassNames> sorted(std::vector<std::string> names);
  /// Line by line: the name of class 0, 1, ...; empty lines at the end do not count. Errors begin
  /// with the path and the line: no name, one that comes twice.
  static Result<ClassNames> read(const std::string& path);
  /// The same of its bytes; errors begin with the line.
  static Result<ClassNames> of_lines(std::string_view text);

  std::size_t size() const { return by_name_.size(); }
  std::optional<std::int64_t> number_of(std::string_view name) const;
  /// By their numbers, each with a line end behind it.
  const std::string& lines() const { return lines_; }

 private:
  struct Entry {
    std::string name;
    std::int64_t number;
  };

  std::vector<Entry> by_name_;
  std::string lines_;
};

/// A label's text as the name of a class, without the spaces around it. Errors, to be read after
/// the label's name: nothing, more than kClassNameBytesMax bytes, several lines, control
/// characters.
Result<std::string_view> parse_class_name(std::string_view text);

/// The message about a label that is not one of `classes` names; `file`: where they are from, or
/// empty.
std::string not_a_class(std::string_view label, std::size_t classes, std::string_view file);

}  // namespace brigade
