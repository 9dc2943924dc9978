#include "stages/image/index/class_names.h"

#include <algorithm>
#include <utility>

#include <brigade/text.h>
#include "stages/basic/mapped_file.h"

namespace brigade {
namespace {

/// What some editors write at the beginning of UTF-8.
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

Error too_many() {
  return Error{concat("more than ", format_count(kClassNamesMax),
                      " different labels; check that the labels are class names")};
}

}  // namespace

Result<std::string_view> parse_class_name(std::string_view text) {
  const std::string_view name = trim(text);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (name.empty()) return Error{"expected a class name, found nothing"};
  if (name.size() > kClassNameBytesMax)
    return Error{concat("expected a class name, found ", format_count(name.size()),
                        " bytes; the limit is ", kClassNameBytesMax, " bytes")};
  if (std::any_of(name.begin(), name.end(), is_control))
    return Error{concat("expected a class name, found ", quote(name.substr(0, 40)))};
  return name;
}

std::string not_a_class(std::string_view label, std::size_t classes, std::string_view file) {
  return concat(quote(label), " is not one of the classes", file.empty() ? "" : " in ", file, " (",
                classes, classes == 1 ? " class)" : " classes)");
}

Result<ClassNames> ClassNames::sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (names.size() > kClassNamesMax) return too_many();
  ClassNames out;
  for (std::string& name : names) {
    out.lines_.append(name).append("\n");
    out.by_name_.push_back({std::move(name), static_cast<std::int64_t>(out.by_name_.size())});
  }
  return out;
}

Result<ClassNames> ClassNames::of_lines(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  if (text.empty()) return Error{"line 1: expected the name of class 0, found an empty file"};
  ClassNames out;
  std::int64_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    const auto name = parse_class_name(line);
    if (!name) return name.error().within(concat("line ", number + 1));
    if (out.by_name_.size() == kClassNamesMax) return too_many();
    out.by_name_.push_back({std::string(*name), number++});
    out.lines_.append(*name).append("\n");
  }
  std::stable_sort(out.by_name_.begin(), out.by_name_.end(),
                   [](const Entry& a, const Entry& b) { return a.name < b.name; });
  const auto twice =
      std::adjacent_find(out.by_name_.begin(), out.by_name_.end(),
                         [](const Entry& a, const Entry& b) { return a.name == b.name; });
  if (twice != out.by_name_.end())
    return Error{concat("line ", twice[1].number + 1, ": ", quote(twice->name),
                        " is a duplicate of line ", twice->number + 1)};
  return out;
}

Result<ClassNames> ClassNames::read(const std::string& path) {
  BRIGADE_ASSIGN(const MappedFile file, MappedFile::open(path));
  auto names = of_lines(file.bytes());
  if (!names) return names.error().within(path);
  return names;
}

std::optional<std::int64_t> ClassNames::number_of(std::string_view name) const {
  const auto found = std::lower_bound(
      by_name_.begin(), by_name_.end(), name,
      [](const Entry& entry, std::string_view wanted) { return entry.name < wanted; });
  if (found == by_name_.end() || found->name != name) return std::nullopt;
  return found->number;
}

}  // namespace brigade
