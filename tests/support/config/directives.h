#pragma once

// Directives of golden texts (golden_cases.h): also for programs that read no golden file.

#include <string>
#include <vector>

#include <brigade/text.h>

namespace brigade {

/// What stands behind `#! NAME ` in the first lines of a text.
inline std::vector<std::string> directives(const std::string& text, const std::string& name) {
  std::vector<std::string> found;
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with("#! ")) break;
    if (const auto rest = strip_prefix(line, concat("#! ", name, " "))) found.emplace_back(*rest);
  }
  return found;
}

}  // namespace brigade
