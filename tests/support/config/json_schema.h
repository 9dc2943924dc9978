#pragma once

// As much of JSON Schema (draft 7) as the schema of the language uses, and a YAML text as an editor
// sees it: what `brigade stages --json-schema` writes is tried on graphs. A keyword that is not
// known here is an error, so that none is passed over.

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include <brigade/check.h>
#include <brigade/text.h>
#include "pipeline/config/yaml/yaml_reader.h"

namespace brigade::json_schema {

using nlohmann::json;

/// Plain scalars become flags and numbers where they look like it.
inline json to_json(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null:
      return nullptr;
    case YamlNode::Kind::list: {
      json list = json::array();
      for (const YamlNode& item : node.items) list.push_back(to_json(item));
      return list;
    }
    case YamlNode::Kind::map: {
      json map = json::object();
      for (const YamlEntry& entry : node.entries) map[entry.key] = to_json(entry.value);
      return map;
    }
    case YamlNode::Kind::scalar:
      break;
  }
  if (node.quoted) return node.text;
  if (node.text == "true" || node.text == "false") return node.text == "true";
  const json number = json::parse(node.text, nullptr, false);
  if (number.is_number()) return number;
  return node.text;
}

/// The document of a YAML text without mistakes in its syntax.
inline json document(const std::string& text) {
  SourceText source;
  Diagnostics diagnostics;
  const int file = source.add({"g.yaml", text, "/"});
  const auto tree = read_yaml(source, file, diagnostics);
  return tree ? to_json(*tree) : json();
}

/// Says what is wrong with a value: "at stages.a: ..."; empty when nothing is.
class Validator {
 public:
  explicit Validator(json schema) : root_(std::move(schema)) {}

  std::string check(const json& value) const { return check(value, root_, "$"); }

 private:
  static bool has_type(const json& value, const std::string& type) {
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    return type == (value.is_number() ? "number" : value.type_name());
  }

  std::string check(const json& value, const json& schema, const std::string& at) const {
    if (schema.is_boolean()) return schema.get<bool>() ? "" : concat("at ", at, ": not allowed");
    for (const auto& [keyword, rule] : schema.items()) {
      const std::string wrong = keyword_says(keyword, rule, value, schema, at);
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

  std::string keyword_says(const std::string& keyword, const json& rule, const json& value,
                           const json& schema, const std::string& at) const {
    static const std::set<std::string> silent = {
        "$schema", "title", "description", "definitions", "then", "else", "patternProperties"};
    const auto wrong = [&](bool bad) {
      return bad ? concat("at ", at, ": ", keyword, " ", rule.dump(), ", found ", value.dump())
                 : std::string();
    };
    if (silent.contains(keyword)) return "";
    if (keyword == "$ref")
      return check(value, root_.at(json::json_pointer(rule.get<std::string>().substr(1))), at);
    if (keyword == "type") return wrong(!is_one_of_types(value, rule));
    if (keyword == "const") return wrong(value != rule);
    if (keyword == "enum") return wrong(std::find(rule.begin(), rule.end(), value) == rule.end());
    if (keyword == "minimum") return wrong(value.is_number() && value < rule);
    if (keyword == "maximum") return wrong(value.is_number() && value > rule);
    if (keyword == "pattern") return wrong(value.is_string() && !matches(value, rule));
    if (keyword == "minItems")
      return wrong(value.is_array() && value.size() < rule.get<std::size_t>());
    if (keyword == "required") return wrong(!has_all(value, rule));
    if (keyword == "anyOf") return wrong(count_of(value, rule, at) == 0);
    if (keyword == "oneOf") return wrong(count_of(value, rule, at) != 1);
    if (keyword == "allOf") return first_wrong(value, rule, at);
    if (keyword == "if")
      return check(value,
                   schema.value(check(value, rule, at).empty() ? "then" : "else", json(true)), at);
    if (keyword == "items") return items(value, rule, at);
    if (keyword == "properties") return properties(value, rule, at);
    if (keyword == "additionalProperties") return additional(value, rule, schema, at);
    return concat("the schema has the unknown keyword ", keyword);
  }

  static bool is_one_of_types(const json& value, const json& rule) {
    if (rule.is_string()) return has_type(value, rule);
    return std::any_of(rule.begin(), rule.end(),
                       [&](const json& type) { return has_type(value, type); });
  }
  // The two patterns there are: a prefix, and a sign somewhere.
  static bool fits(const std::string& text, const std::string& pattern) {
    if (const auto prefix = strip_prefix(pattern, "^")) return text.starts_with(*prefix);
    BRIGADE_CHECK(pattern == "\\$", pattern);
    return text.find('$') != text.npos;
  }
  static bool matches(const json& value, const json& rule) {
    return fits(value.get<std::string>(), rule.get<std::string>());
  }
  static bool has_all(const json& value, const json& names) {
    return !value.is_object() || std::all_of(names.begin(), names.end(), [&](const json& name) {
      return value.contains(name.get<std::string>());
    });
  }
  std::ptrdiff_t count_of(const json& value, const json& rules, const std::string& at) const {
    return std::count_if(rules.begin(), rules.end(),
                         [&](const json& rule) { return check(value, rule, at).empty(); });
  }
  std::string first_wrong(const json& value, const json& rules, const std::string& at) const {
    for (const json& rule : rules)
      if (std::string wrong = check(value, rule, at); !wrong.empty()) return wrong;
    return "";
  }
  std::string items(const json& value, const json& rule, const std::string& at) const {
    for (std::size_t i = 0; value.is_array() && i < value.size(); ++i)
      if (std::string wrong = check(value[i], rule, concat(at, "[", i, "]")); !wrong.empty())
        return wrong;
    return "";
  }
  std::string properties(const json& value, const json& rule, const std::string& at) const {
    for (const auto& [name, inner] : rule.items()) {
      if (!value.is_object() || !value.contains(name)) continue;
      if (std::string wrong = check(value[name], inner, concat(at, ".", name)); !wrong.empty())
        return wrong;
    }
    return "";
  }
  std::string additional(const json& value, const json& rule, const json& schema,
                         const std::string& at) const {
    if (!value.is_object()) return "";
    for (const auto& [name, inner] : value.items()) {
      if (schema.contains("properties") && schema["properties"].contains(name)) continue;
      bool known = false;
      if (schema.contains("patternProperties"))
        for (const auto& [pattern, unused] : schema["patternProperties"].items())
          known = known || fits(name, pattern);
      if (known) continue;
      if (std::string wrong = check(inner, rule, concat(at, ".", name)); !wrong.empty())
        return wrong;
    }
    return "";
  }

  json root_;
};

}  // namespace brigade::json_schema
