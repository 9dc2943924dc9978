#include "pipeline/config/yaml/yaml_writer.h"

#include <algorithm>

#include <brigade/text.h>

namespace brigade {

namespace {

constexpr int kIndent = 2;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '/' || c == '.' || c == '+' || c == '-' || c == '%';
}

bool needs_quotes(std::string_view text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL")
    return true;
  if (text.front() == '-' && (text.size() == 1 || text.starts_with("--"))) return true;
  if (text.front() == '%' || text == "...") return true;
  return !std::all_of(text.begin(), text.end(), is_plain);
}

std::string escaped(std::string_view text) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += concat('\\', c);
    } else if (byte < 0x20 || byte == 0x7F) {
      out += concat("\\x", kHex[byte >> 4], kHex[byte & 15]);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string scalar(std::string_view text) {
  return needs_quotes(text) ? escaped(text) : std::string(text);
}

std::string scalar(const YamlNode& node) {
  return node.quoted ? escaped(node.text) : scalar(node.text);
}

std::string flow(const YamlNode& node) {
  std::vector<std::string> parts;
  switch (node.kind) {
    case YamlNode::Kind::null:
      return "null";
    case YamlNode::Kind::scalar:
      return scalar(node);
    case YamlNode::Kind::list:
      for (const YamlNode& item : node.items) parts.push_back(flow(item));
      return concat("[", join(parts, ", "), "]");
    case YamlNode::Kind::map:
      for (const YamlEntry& entry : node.entries)
        parts.push_back(concat(scalar(entry.key), ": ", flow(entry.value)));
      return concat("{", join(parts, ", "), "}");
  }
  return "";
}

void block(std::string& out, const YamlNode& map, int indent) {
  for (const YamlEntry& entry : map.entries) {
    out += concat(std::string(static_cast<std::size_t>(indent), ' '), scalar(entry.key), ":");
    if (entry.value.is_map() && !entry.value.entries.empty()) {
      out += "\n";
      block(out, entry.value, indent + kIndent);
    } else {
      out += concat(" ", flow(entry.value), "\n");
    }
  }
}

}  // namespace

std::string write_yaml(const YamlNode& root) {
  if (!root.is_map() || root.entries.empty()) return concat(flow(root), "\n");
  std::string out;
  block(out, root, 0);
  return out;
}

std::string quote_dollars(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '$') out += '$';
    out += c;
  }
  return out;
}

}  // namespace brigade
