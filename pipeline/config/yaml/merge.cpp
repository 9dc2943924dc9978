#include "pipeline/config/yaml/merge.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <brigade/text.h>
#include "pipeline/config/yaml/yaml_reader.h"

namespace brigade {

namespace {

constexpr std::string_view kSettingHelp =
    "write --set KEY=VALUE, for example --set stages.augment.replicas=4";

void erase(YamlNode& map, std::string_view key) {
  std::erase_if(map.entries, [&](const YamlEntry& entry) { return entry.key == key; });
}

std::optional<YamlNode> setting_value(const SourceText& source, int file, std::size_t at,
                                      Diagnostics& diagnostics) {
  const std::string& text = source.file(file).text;
  const std::string_view value = std::string_view(text).substr(at);
  const int column = static_cast<int>(at) + 1;
  if (!value.empty() && std::string_view("\"'[{").find(value.front()) != value.npos)
    return read_yaml(source, file, diagnostics, column);
  const bool none = value.empty() || value == "null" || value == "~";
  YamlNode node = none ? YamlNode{} : YamlNode::scalar(std::string(value));
  node.span = {{file, 1, column}, static_cast<int>(std::max<std::size_t>(value.size(), 1))};
  node.origin = -1;
  return node;
}

void forget_origin(YamlNode& node) {
  node.origin = -1;
  for (YamlNode& item : node.items) forget_origin(item);
  for (YamlEntry& entry : node.entries) forget_origin(entry.value);
}

// One step along the path; null where the tree has no such place.
YamlNode* step_into(YamlNode& node, std::string_view part, const Span& span) {
  if (node.is_list()) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
    const bool number = error == std::errc{} && end == part.data() + part.size();
    return number && index < node.items.size() ? &node.items[index] : nullptr;
  }
  if (node.is_null()) {
    node = YamlNode::map();
    node.span = span;
  }
  if (!node.is_map()) return nullptr;
  if (YamlEntry* entry = node.find(part)) return &entry->value;
  YamlNode fresh;
  fresh.span = span;
  node.entries.push_back({std::string(part), span, std::move(fresh)});
  return &node.entries.back().value;
}

std::string found_instead(const YamlNode& node, std::string_view path, std::string_view part) {
  if (node.is_list())
    return concat("`", path, "` is a list of ", node.items.size(), ": ", quote(part),
                  " is not in 0 to ", node.items.size() - 1);
  return concat("`", path, "` is ", describe(node), ", not a mapping");
}

void set_path(int file, std::string_view path, YamlNode value, YamlNode& root,
              Diagnostics& diagnostics) {
  for (std::size_t at = 0; const std::string_view part : split(path, '.')) {
    if (part.empty()) {
      diagnostics.error({{file, 1, static_cast<int>(at) + 1}, 1},
                        "expected a key between the dots, found none", {std::string(kSettingHelp)});
      return;
    }
    at += part.size() + 1;
  }
  YamlNode* node = &root;
  YamlNode* parent = nullptr;
  std::size_t at = 0;
  std::string_view last;
  for (const std::string_view part : split(path, '.')) {
    const Span span{{file, 1, static_cast<int>(at) + 1}, static_cast<int>(part.size())};
    parent = node;
    last = part;
    YamlNode* next = step_into(*node, part, span);
    if (next == nullptr) {
      const std::string_view before = path.substr(0, at == 0 ? 0 : at - 1);
      diagnostics.error(span, found_instead(*node, before, part));
      return;
    }
    node = next;
    at += part.size() + 1;
  }
  if (value.is_null() && parent->is_map()) {
    erase(*parent, last);
  } else {
    *node = std::move(value);
  }
}

}  // namespace

void merge_tree(YamlNode& base, YamlNode over) {
  if (!base.is_map() || !over.is_map()) {
    base = std::move(over);
    return;
  }
  for (YamlEntry& entry : over.entries) {
    YamlEntry* present = base.find(entry.key);
    if (present == nullptr) {
      base.entries.push_back(std::move(entry));
    } else if (entry.value.is_null()) {
      erase(base, entry.key);
    } else {
      present->key_span = entry.key_span;
      merge_tree(present->value, std::move(entry.value));
    }
  }
}

void apply_setting(const SourceText& source, int file, YamlNode& root, Diagnostics& diagnostics) {
  const std::string_view text = source.file(file).text;
  const std::size_t equals = text.find('=');
  const Span whole{{file, 1, 1}, static_cast<int>(std::max<std::size_t>(text.size(), 1))};
  if (equals == text.npos || equals == 0) {
    diagnostics.error(whole, "expected KEY=VALUE", {std::string(kSettingHelp)});
    return;
  }
  if (std::count(text.begin(), text.begin() + static_cast<long>(equals), '.') >= kYamlDepthMax) {
    diagnostics.error(whole, concat("the key is more than ", kYamlDepthMax, " levels deep"));
    return;
  }
  auto value = setting_value(source, file, equals + 1, diagnostics);
  if (!value) return;
  forget_origin(*value);
  set_path(file, text.substr(0, equals), std::move(*value), root, diagnostics);
}

}  // namespace brigade
