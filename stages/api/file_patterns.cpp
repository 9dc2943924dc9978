#include "stages/api/file_patterns.h"

#include <fnmatch.h>
#include <glob.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>

#include <brigade/text.h>

namespace brigade {
namespace {

constexpr std::string_view kWildcards = "*?[";
constexpr int kFoldersMax = 64;  // looked into for one pattern

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Error too_many(std::string_view pattern) {
  return Error{
      concat(quote(pattern), " matches more than ", format_count(kPatternFilesMax), " files")};
}

/// What stands between two braces.
Result<std::vector<std::string>> alternatives(std::string_view inside, std::string_view pattern) {
  std::vector<std::string> out;
  const std::size_t dots = inside.find("..");
  if (inside.find(',') == inside.npos && dots != inside.npos) {
    const std::string_view first_text = inside.substr(0, dots);
    const auto first = parse_number(first_text);
    const auto last = parse_number(inside.substr(dots + 2));
    if (first && last && *first <= *last) {
      if (*last - *first >= kPatternFilesMax) return too_many(pattern);
      for (std::uint64_t number = *first; number <= *last; ++number) {
        const std::string digits = concat(number);
        const std::size_t zeros = first_text.size() - std::min(first_text.size(), digits.size());
        out.push_back(std::string(zeros, '0') + digits);
      }
      return out;
    }
  } else if (inside.find(',') != inside.npos && inside.find('{') == inside.npos) {
    for (const std::string_view name : split(inside, ',')) out.emplace_back(name);
    return out;
  }
  return Error{concat("in ", quote(pattern),
                      ": expected a range such as {000..146} or a list such ", "as {a,b}, found ",
                      quote(concat("{", inside, "}")))};
}

Result<void> glob_files(const std::string& pattern, std::vector<std::string>& out) {
  glob_t found{};
  const int code = glob(pattern.c_str(), GLOB_NOSORT | GLOB_ERR, nullptr, &found);
  std::vector<std::string> names(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  if (code == GLOB_ABORTED)
    return Error{concat(pattern, ": cannot read a folder of this path; check its permissions")};
  if (names.empty()) return Error{concat(pattern, ": no such file")};
  std::sort(names.begin(), names.end());
  out.insert(out.end(), names.begin(), names.end());
  return {};
}

class Match {
 public:
  explicit Match(const ListFolder& list) : list_(list) {}

  std::optional<bool> in(const std::string& folder, std::string_view pattern) {
    if (++folders_ > kFoldersMax) return std::nullopt;
    const auto found = list_(folder, kFolderNamesMax);
    if (!found) return std::nullopt;
    const std::size_t slash = pattern.find('/');
    const std::string part(pattern.substr(0, slash));
    bool sure = found->all;
    for (const auto& [name, is_folder] : found->names) {
      if (fnmatch(part.c_str(), name.c_str(), FNM_PERIOD) != 0) continue;
      if (slash == pattern.npos) return true;
      if (!is_folder) continue;
      const auto below = in(concat(folder, "/", name), pattern.substr(slash + 1));
      if (below == true) return true;
      sure = sure && below.has_value();
    }
    return sure ? std::optional(false) : std::nullopt;
  }

 private:
  const ListFolder& list_;
  int folders_ = 0;
};

}  // namespace

std::optional<bool> matches_any(const std::string& pattern, const ListFolder& list) {
  const std::string folder = folder_of_wildcard(pattern);
  const std::string_view rest = std::string_view(pattern).substr(folder.size());
  return Match(list).in(folder, rest.substr(std::min(rest.find_first_not_of('/'), rest.size())));
}

Result<std::vector<std::string>> expand_braces(std::string_view pattern) {
  std::vector<std::string> names{""};
  std::size_t at = 0;
  for (;;) {
    const std::size_t open = pattern.find('{', at);
    for (std::string& name : names) name += pattern.substr(at, open - at);
    if (open == pattern.npos) return names;
    const std::size_t close = pattern.find('}', open);
    if (close == pattern.npos)
      return Error{concat("in ", quote(pattern), " a { has no matching }")};
    BRIGADE_ASSIGN(const std::vector<std::string> choices,
                   alternatives(pattern.substr(open + 1, close - open - 1), pattern));
    if (choices.size() > kPatternFilesMax / names.size()) return too_many(pattern);
    std::vector<std::string> longer;
    longer.reserve(names.size() * choices.size());
    for (const std::string& name : names)
      for (const std::string& choice : choices) longer.push_back(name + choice);
    names = std::move(longer);
    at = close + 1;
  }
}

Result<std::vector<std::string>> expand_all_braces(const std::vector<std::string>& patterns) {
  std::vector<std::string> all;
  for (const std::string& pattern : patterns) {
    BRIGADE_ASSIGN(std::vector<std::string> names, expand_braces(pattern));
    std::move(names.begin(), names.end(), std::back_inserter(all));
  }
  return all;
}

bool is_wildcard(std::string_view name) { return name.find_first_of(kWildcards) != name.npos; }

std::string literal_wildcard(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (kWildcards.find(c) != kWildcards.npos)
      out += concat('[', c, ']');
    else
      out += c == '\\' ? "\\\\" : std::string(1, c);
  }
  return out;
}

std::string folder_of_wildcard(std::string_view path) {
  const std::string_view before = path.substr(0, path.find_first_of(kWildcards));
  const std::size_t slash = before.rfind('/');
  if (slash == before.npos) return ".";
  return std::string(before.substr(0, std::max<std::size_t>(slash, 1)));
}

Result<std::vector<std::string>> list_files(const std::vector<std::string>& patterns) {
  std::vector<std::string> files;
  BRIGADE_ASSIGN(std::vector<std::string> names, expand_all_braces(patterns));
  for (std::string& name : names) {
    if (is_wildcard(name)) {
      BRIGADE_TRY(glob_files(name, files));
    } else {
      files.push_back(std::move(name));
    }
  }
  return files;
}

}  // namespace brigade
