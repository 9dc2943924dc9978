#include "pipeline/config/language/spec_reader.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <brigade/text.h>
#include "base/units.h"
#include "pipeline/config/language/key_text.h"
#include "pipeline/config/language/other_keys.h"

namespace brigade {

namespace {

std::optional<std::uint64_t> digits(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

std::optional<KeyScope> other_scope(KeyScope scope, std::string_view name) {
  for (const KeySpec& key : key_table())
    if (key.name == name && key.scope != scope &&
        (key.scope == KeyScope::top || key.scope == KeyScope::stage))
      return key.scope;
  return std::nullopt;
}

}  // namespace

bool looks_like_stage(const YamlNode& node) {
  return node.find("producer") != nullptr || node.find("transform") != nullptr ||
         node.find("consumer") != nullptr || node.find("mix") != nullptr;
}

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > kNameBytesMax || !is_letter(text[0])) return false;
  for (const char c : text)
    if (!is_letter(c) && (c < '0' || c > '9') && c != '-') return false;
  return true;
}

bool in_range(std::chrono::nanoseconds time, const KeySpec& key) {
  const auto ns = static_cast<std::uint64_t>(time.count());
  return ns >= key.minimum && ns <= key.maximum;
}

Given<std::uint64_t> SpecReader::whole(const YamlEntry& entry, const KeySpec& key) {
  const auto value = entry.value.is_scalar() ? digits(entry.value.text) : std::nullopt;
  if (value && *value >= key.minimum && *value <= key.maximum)
    return Marked<std::uint64_t>{*value, entry.value.span};
  unexpected(entry, key);
  return std::nullopt;
}

Given<std::uint64_t> SpecReader::whole_or_auto(const YamlEntry& entry, const KeySpec& key) {
  if (entry.value.is_scalar() && entry.value.text == "auto")
    return Marked<std::uint64_t>{0, entry.value.span};
  return whole(entry, key);
}

Given<bool> SpecReader::flag(const YamlEntry& entry, const KeySpec& key) {
  const std::string& text = entry.value.text;
  if (text == "true" || text == "false") return Marked<bool>{text == "true", entry.value.span};
  unexpected(entry, key);
  return std::nullopt;
}

Given<std::string> SpecReader::text(const YamlEntry& entry, const KeySpec& key) {
  if (entry.value.is_scalar() && !entry.value.text.empty())
    return Marked<std::string>{entry.value.text, entry.value.span};
  unexpected(entry, key);
  return std::nullopt;
}

Given<std::string> SpecReader::name(const YamlEntry& entry, const KeySpec& key) {
  if (entry.value.is_scalar() && is_name(entry.value.text))
    return Marked<std::string>{entry.value.text, entry.value.span};
  unexpected(entry, key, {"a name has letters, digits, _ and -, and begins with a letter"});
  return std::nullopt;
}

Given<std::size_t> SpecReader::choice(const YamlEntry& entry, const KeySpec& key) {
  const std::string& text = entry.value.text;
  const auto names = value_names(key.scope, key.name);
  const auto found = std::find(names.begin(), names.end(), text);
  if (entry.value.is_scalar() && found != names.end())
    return Marked<std::size_t>{static_cast<std::size_t>(found - names.begin()), entry.value.span};
  std::vector<std::string> help;
  if (const auto meant = did_you_mean(text, names))
    help.push_back(concat("did you mean \"", *meant, "\"?"));
  unexpected(entry, key, std::move(help));
  return std::nullopt;
}

Given<PathSpec> SpecReader::path(const YamlEntry& entry, const KeySpec& key) {
  const auto value = text(entry, key);
  if (!value) return std::nullopt;
  return Marked<PathSpec>{{value->value, entry.value.origin}, value->span};
}

Given<std::uint64_t> SpecReader::size(const YamlEntry& entry, const KeySpec& key) {
  if (!entry.value.is_scalar()) {
    unexpected(entry, key);
    return std::nullopt;
  }
  const auto bytes = parse_size(entry.value.text);
  if (bytes && *bytes >= key.minimum && *bytes <= key.maximum)
    return Marked<std::uint64_t>{*bytes, entry.value.span};
  if (bytes) {
    unexpected(entry, key);
  } else {
    error(entry.value.span, concat("`", key.name, "`: ", bytes.error().message));
  }
  return std::nullopt;
}

Given<std::int64_t> SpecReader::duration(const YamlEntry& entry, const KeySpec& key) {
  if (!entry.value.is_scalar()) {
    unexpected(entry, key);
    return std::nullopt;
  }
  const auto time = parse_duration(entry.value.text);
  if (time && in_range(*time, key)) return Marked<std::int64_t>{time->count(), entry.value.span};
  if (time) {
    unexpected(entry, key);
  } else {
    error(entry.value.span, concat("`", key.name, "`: ", time.error().message));
  }
  return std::nullopt;
}

std::optional<std::vector<Marked<std::string>>> SpecReader::names(const YamlEntry& entry,
                                                                  const KeySpec& key) {
  std::vector<Marked<std::string>> list;
  const auto add = [&](const YamlNode& node) {
    const bool good = node.is_scalar() && !node.text.empty();
    if (good) list.push_back({node.text, node.span});
    return good;
  };
  if (entry.value.is_list()) {
    for (const YamlNode& item : entry.value.items) {
      if (add(item)) continue;
      error(item.span, concat("`", key.name, "`: expected a name, found ", describe(item)));
      return std::nullopt;
    }
    return list;
  }
  if (add(entry.value)) return list;
  unexpected(entry, key);
  return std::nullopt;
}

std::vector<std::pair<std::string, std::string>> SpecReader::texts(const YamlEntry& entry,
                                                                   const KeySpec& key) {
  std::vector<std::pair<std::string, std::string>> list;
  if (!is_mapping(entry, key)) return list;
  for (const YamlEntry& item : entry.value.entries) {
    if (item.value.is_scalar()) {
      list.emplace_back(item.key, item.value.text);
    } else if (item.value.is_null()) {
      error(item.key_span, concat("`", key.name, "`: ", quote(item.key), " has no value"),
            {"write \"\" for an empty text"});
    } else {
      error(item.value.span, concat("`", key.name, "`: ", quote(item.key),
                                    " must be text or a number, found ", describe(item.value)));
    }
  }
  return list;
}

bool SpecReader::is_mapping(const YamlEntry& entry, const KeySpec& key) {
  if (entry.value.is_map()) return true;
  if (!entry.value.is_null()) unexpected(entry, key);
  return false;
}

void SpecReader::each(const YamlNode& map, KeyScope scope,
                      const std::function<void(const YamlEntry&, const KeySpec&)>& handle,
                      const std::function<void(const YamlEntry&)>& unknown) {
  for (const YamlEntry& entry : map.entries) {
    const KeySpec* key = find_key(scope, entry.key);
    if (key == nullptr) {
      if (unknown) {
        unknown(entry);
      } else {
        unknown_key(entry, scope);
      }
      continue;
    }
    if (entry.value.is_null() && key->type != KeyType::mapping) {
      const std::string otherwise = key_default(*key);
      error(entry.key_span, concat("`", key->name, "` has no value"),
            {concat(
                "expected ", key_takes(*key),
                otherwise.empty() ? "" : concat("; the default without this line: ", otherwise))});
      continue;
    }
    handle(entry, *key);
  }
}

void SpecReader::unknown_key(const YamlEntry& entry, KeyScope scope) {
  std::vector<std::string> help;
  const auto meant = did_you_mean(entry.key, key_names(scope));
  const auto other = other_scope(scope, entry.key);
  if (const auto now = renamed_key(scope, entry.key); !now.empty()) {
    help.push_back(concat("`", entry.key, ":` is now called `", now, ":`"));
  } else if (scope == KeyScope::top && looks_like_stage(entry.value)) {
    help.push_back("this looks like a stage: indent it below `stages:`");
  } else if (other && *other == KeyScope::top) {
    help.push_back(concat("`", entry.key, "` belongs at the top level of the file"));
  } else if (other && scope != KeyScope::stage) {
    help.push_back(concat("`", entry.key, "` is a key of a stage"));
  } else if (const auto known = other_key_help(entry.key, scope)) {
    help.push_back(*known);
  } else if (meant) {
    help.push_back(concat("did you mean \"", *meant, "\"?"));
  } else {
    help.push_back(concat("known keys: ", join(key_names(scope), ", ", " and ")));
  }
  error(entry.key_span, concat("unknown key ", quote(entry.key), " ", scope_text(scope)),
        std::move(help));
}

void SpecReader::unexpected(const YamlEntry& entry, const KeySpec& key,
                            std::vector<std::string> help) {
  error(entry.value.span,
        concat("`", key.name, "`: expected ", key_takes(key), ", found ", describe(entry.value)),
        std::move(help));
}

void SpecReader::error(const Span& span, std::string message, std::vector<std::string> help) {
  diagnostics_->error(span, prefix_ + message, std::move(help));
}

}  // namespace brigade
