#pragma once

// The keys of a stage that have their default, as effective_yaml() prints them. Golden files omit
// them, so that a new key leaves those files as they are.

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include <brigade/text.h>
#include "pipeline/config/language/key_table.h"
#include "pipeline/config/language/key_text.h"

namespace brigade {

/// "threads: 1"; empty where the table has the default in words.
inline std::string default_entry(const KeySpec& key) {
  const bool in_words = !key.default_text.empty() || key_default(key).empty();
  return in_words ? "" : concat(key.name, ": ", key_default(key));
}

/// Without the lines `    KEY: DEFAULT` and `stages.NAME.KEY: DEFAULT`.
inline std::string without_default_keys(std::string_view text) {
  std::set<std::string, std::less<>> defaults;
  for (const KeySpec& key : key_table())
    if (key.scope == KeyScope::stage) defaults.insert(default_entry(key));
  const auto entry_of = [](std::string_view line) -> std::string_view {
    if (const auto entry = strip_prefix(line, "    ")) return *entry;
    const auto rest = strip_prefix(line, "stages.");
    return rest ? rest->substr(rest->find('.') + 1) : std::string_view();
  };
  std::string left;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, end - at);
    const std::string_view entry = entry_of(line.substr(0, line.find('\n')));
    if (entry.empty() || !defaults.contains(entry)) left += line;
    at = end;
  }
  return left;
}

}  // namespace brigade
