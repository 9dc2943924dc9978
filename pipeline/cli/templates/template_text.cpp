#include "pipeline/cli/templates/template_text.h"

#include <algorithm>

#include <brigade/text.h>
#include "base/printable.h"
#include "pipeline/config/yaml/yaml_writer.h"

namespace brigade {

std::string fill_template(std::string_view text,
                          std::initializer_list<std::pair<std::string_view, std::string>> values) {
  std::string out;
  while (!text.empty()) {
    const std::size_t at = std::min(text.find('@'), text.size());
    out += text.substr(0, at);
    text.remove_prefix(at);
    const auto* const value =
        std::find_if(values.begin(), values.end(), [text](const auto& candidate) {
          return text.starts_with(concat('@', candidate.first, '@'));
        });
    if (value != values.end()) {
      out += value->second;
      text.remove_prefix(value->first.size() + 2);
    } else if (!text.empty()) {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

std::string yaml_text(std::string_view name) {
  // `$` would begin a variable, and YAML takes two of the code points that are no characters only
  // escaped.
  std::string out = quote(quote_dollars(name));
  for (const char* const last : {"\xBE", "\xBF"}) {
    const std::string raw = concat("\xEF\xBF", last);
    const std::string_view escaped = *last == '\xBE' ? "\\ufffe" : "\\uffff";
    for (auto at = out.find(raw); at != out.npos; at = out.find(raw, at))
      out.replace(at, raw.size(), escaped);
  }
  return out;
}

std::string comment_text(std::string_view name) {
  const std::string quoted = yaml_text(name);
  const bool plain = quoted.size() == name.size() + 2;
  return plain ? std::string(name) : quoted;
}

std::string name_text(std::string_view name) {
  const bool letters = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
  const bool null = name == "null" || name == "Null" || name == "NULL";
  return letters && !null && !name.starts_with('-') ? std::string(name) : yaml_text(name);
}

bool is_utf8(std::string_view name) {
  for (std::size_t at = 0, length = 0; at < name.size(); at += length)
    if (length = utf8_length(name, at); length == 0) return false;
  return true;
}

std::string yaml_list(const std::vector<std::string>& names) {
  constexpr std::size_t kNamesInLineMax = 100;
  if (names.empty() || names.size() > kNamesInLineMax) return "";
  if (!std::all_of(names.begin(), names.end(), is_utf8)) return "";
  std::string out;
  for (const std::string& name : names) out += concat(out.empty() ? "[" : ", ", yaml_text(name));
  return concat(out, "]");
}

}  // namespace brigade
