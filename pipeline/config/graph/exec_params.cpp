#include "pipeline/config/graph/exec_params.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "pipeline/config/yaml/yaml_writer.h"

namespace brigade {
namespace {

/// A number, true, false and null are what JSON takes them for; all else, and what stands in
/// quotes, is text.
nlohmann::ordered_json json_of(const YamlNode& node) {
  if (node.is_list()) {
    auto list = nlohmann::ordered_json::array();
    for (const YamlNode& item : node.items) list.push_back(json_of(item));
    return list;
  }
  if (node.is_map()) {
    auto map = nlohmann::ordered_json::object();
    for (const YamlEntry& entry : node.entries) map[entry.key] = json_of(entry.value);
    return map;
  }
  if (node.is_null()) return nullptr;
  const auto read = parse_json<nlohmann::ordered_json>(node.text);
  const bool plain = !node.quoted && read && (read->is_number() || read->is_boolean());
  return plain ? *read : nlohmann::ordered_json(node.text);
}

std::string text_of(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

YamlNode node_of(const nlohmann::ordered_json& value) {
  if (value.is_null()) return {};
  YamlNode node = YamlNode::scalar("");
  if (value.is_array()) node = YamlNode::list();
  if (value.is_object()) node = YamlNode::map();
  if (value.is_array())
    for (const auto& item : value) node.items.push_back(node_of(item));
  if (value.is_object())
    for (const auto& [key, entry] : value.items())
      node.entries.push_back({key, {}, node_of(entry)});
  if (!node.is_scalar()) return node;
  node.quoted = value.is_string();
  node.text = node.quoted ? quote_dollars(value.get<std::string>()) : text_of(value);
  return node;
}

}  // namespace

std::string exec_param_text(const YamlNode& node) { return text_of(json_of(node)); }

YamlNode exec_param_node(std::string_view json) {
  const auto read = parse_json<nlohmann::ordered_json>(json);
  return read ? node_of(*read) : YamlNode();
}

}  // namespace brigade
