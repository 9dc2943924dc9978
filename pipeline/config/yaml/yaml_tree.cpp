#include "pipeline/config/yaml/yaml_tree.h"

#include <utility>

#include <brigade/text.h>

namespace brigade {

namespace {

constexpr std::size_t kShownTextMax = 60;

}  // namespace

const YamlEntry* YamlNode::find(std::string_view key) const {
  for (const YamlEntry& entry : entries)
    if (entry.key == key) return &entry;
  return nullptr;
}

YamlEntry* YamlNode::find(std::string_view key) {
  return const_cast<YamlEntry*>(std::as_const(*this).find(key));
}

YamlNode YamlNode::scalar(std::string text) {
  YamlNode node = of_kind(Kind::scalar);
  node.text = std::move(text);
  return node;
}

YamlNode YamlNode::of_kind(Kind kind) {
  YamlNode node;
  node.kind = kind;
  return node;
}

std::string describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null:
      return "nothing";
    case YamlNode::Kind::list:
      return "a list";
    case YamlNode::Kind::map:
      return "a mapping";
    case YamlNode::Kind::scalar:
      break;
  }
  if (node.text.size() <= kShownTextMax) return quote(node.text);
  std::size_t end = kShownTextMax;
  while (end > 0 && (static_cast<unsigned char>(node.text[end]) & 0xC0) == 0x80) --end;
  return concat(quote(node.text.substr(0, end)), "...");
}

ParamValue to_param_value(const YamlNode& node) {
  ParamValue value;
  switch (node.kind) {
    case YamlNode::Kind::null:
      break;
    case YamlNode::Kind::scalar:
      return ParamValue::scalar(node.text);
    case YamlNode::Kind::list:
      value.kind = ParamValue::Kind::list;
      for (const YamlNode& item : node.items) value.items.push_back(to_param_value(item));
      break;
    case YamlNode::Kind::map:
      value.kind = ParamValue::Kind::map;
      for (const auto& [key, span, entry] : node.entries)
        value.entries.emplace_back(key, to_param_value(entry));
      break;
  }
  return value;
}

}  // namespace brigade
