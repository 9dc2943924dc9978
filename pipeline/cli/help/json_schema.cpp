#include "pipeline/cli/help/json_schema.h"

#include <nlohmann/json.hpp>

#include <brigade/text.h>
#include "pipeline/config/language/key_text.h"
#include "stages/detail/exec_stage.h"

namespace brigade {
namespace {

using nlohmann::ordered_json;

// Any value may be a variable.
ordered_json or_variable(ordered_json schema) {
  return {{"anyOf", {std::move(schema), {{"type", "string"}, {"pattern", "\\$"}}}}};
}

ordered_json reference(const std::string& name) { return {{"$ref", "#/definitions/" + name}}; }

ordered_json one_or_list(const ordered_json& schema) {
  return {{"anyOf", {schema, {{"type", "array"}, {"items", schema}, {"minItems", 1}}}}};
}

ordered_json whole_number(const KeySpec& key) {
  return {{"type", "integer"}, {"minimum", key.minimum}, {"maximum", key.maximum}};
}

ordered_json choices(const KeySpec& key) {
  ordered_json list = ordered_json::array();
  for (std::string_view value : value_names(key.scope, key.name)) list.push_back(value);
  return {{"enum", list}};
}

ordered_json stage_type_names(const StageTypes& types, StageKind kind) {
  ordered_json list = ordered_json::array();
  for (const StageType& type : types.all()) {
    if (type.contract.kind == kind) list.push_back(type.contract.type);
  }
  return or_variable({{"enum", list}});
}

ordered_json param_value(const ParamSpec& param) {
  const auto number = [&param](const char* type) {
    ordered_json schema = {{"type", type}};
    if (param.minimum) schema["minimum"] = *param.minimum;
    if (param.maximum) schema["maximum"] = *param.maximum;
    return schema;
  };
  const auto list = [](ordered_json items) {
    return ordered_json{{"type", "array"}, {"items", std::move(items)}};
  };
  switch (param.type) {
    case ParamType::flag:
      return {{"type", "boolean"}};
    case ParamType::integer:
      return number("integer");
    case ParamType::number:
      return number("number");
    case ParamType::integers:
      return list(number("integer"));
    case ParamType::numbers:
      return list(number("number"));
    case ParamType::texts:
      return list({{"type", "string"}});
    case ParamType::input_paths:
      return {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}};
    case ParamType::input_files:
      return one_or_list({{"type", {"string", "number"}}});
    case ParamType::text_map:
      return {{"type", "object"},
              {"additionalProperties", one_or_list({{"type", {"string", "number"}}})}};
    case ParamType::number_or_range:
      return one_or_list(number("number"));
    case ParamType::integer_or_all:
      return {{"anyOf", {number("integer"), {{"const", "all"}}}}};
    case ParamType::operations:
      return list({{"type", {"string", "object"}}});
    case ParamType::choice:
      return {{"enum", param.choices}};
    case ParamType::text:
    case ParamType::input_path:
    case ParamType::output_path:
    case ParamType::size:
    case ParamType::duration:
    case ParamType::dtype:
      break;
  }
  return {{"type", {"string", "number"}}};
}

ordered_json params_schema(const StageContract& contract) {
  ordered_json properties = ordered_json::object();
  ordered_json required = ordered_json::array();
  for (const ParamSpec& param : contract.params) {
    ordered_json property = {{"description", param.help}};
    property.update(or_variable(param_value(param)));
    properties[param.name] = property;
    if (param.required) required.push_back(param.name);
  }
  const bool others = contract.type == kPythonType;  // the function's
  ordered_json schema = {
      {"type", "object"}, {"properties", properties}, {"additionalProperties", others}};
  if (!required.empty()) schema["required"] = required;
  return schema;
}

// One, or a list: `[a, {b: {...}}]`.
ordered_json transforms(const StageTypes& types) {
  const ordered_json name = stage_type_names(types, StageKind::transform);
  ordered_json params = ordered_json::object();
  for (const StageType& type : types.all()) {
    if (type.contract.kind != StageKind::transform) continue;
    params[type.contract.type] = params_schema(type.contract);
  }
  const ordered_json with_params = {
      {"type", "object"}, {"properties", params}, {"additionalProperties", false}};
  return {{"anyOf", {name, one_or_list({{"anyOf", {name, with_params}}})}}};
}

// Keys whose values have a form of their own.
ordered_json special_value(const KeySpec& key, const StageTypes& types) {
  if (key.name == "producer") return stage_type_names(types, StageKind::producer);
  if (key.name == "transform") return transforms(types);
  if (key.name == "consumer") return stage_type_names(types, StageKind::consumer);
  if (key.name == "checkpoint") return reference("checkpoint");
  if (key.name == "limit") return {{"type", {"string", "number"}}};
  if (key.name == "split")
    return {{"type", "object"}, {"additionalProperties", {{"type", {"string", "number"}}}}};
  if (key.name == "mix")
    return {{"type", "object"},
            {"additionalProperties", or_variable({{"type", "number"}, {"minimum", 0}})}};
  if (key.name == "shape") return {{"type", "array"}, {"items", {{"type", "integer"}}}};
  if (key.name == "every") return {{"type", {"string", "integer"}}};
  if (key.name == "tensors") {
    const ordered_json sizes = {{"type", "array"}, {"items", {{"type", {"integer", "string"}}}}};
    const ordered_json tensor = {
        {"type", "object"},
        {"properties", {{"dtype", {{"type", "string"}}}, {"shape", sizes}}},
        {"required", {"dtype", "shape"}},
        {"additionalProperties", false}};
    return {{"type", "object"}, {"additionalProperties", tensor}};
  }
  if (key.name == "from") {
    const ordered_json source = {{"anyOf", {{{"type", "string"}}, reference("source")}}};
    const ordered_json ports = {{"type", "object"}, {"additionalProperties", source}};
    return {{"anyOf", {one_or_list(source), ports}}};
  }
  for (int scope = 0; scope < kKeyScopes; ++scope)  // `restart: never`, or a mapping
    if (key.scope != KeyScope::shared && key.name == scope_name(static_cast<KeyScope>(scope)))
      return {{"anyOf", {{{"type", "string"}}, reference(std::string(key.name))}}};
  return true;
}

ordered_json value_schema(const KeySpec& key, const StageTypes& types) {
  switch (key.type) {
    case KeyType::flag:
      return or_variable({{"type", "boolean"}});
    case KeyType::whole:
      return or_variable(whole_number(key));
    case KeyType::whole_auto:
      return or_variable({{"anyOf", {whole_number(key), {{"const", "auto"}}}}});
    case KeyType::text:
    case KeyType::name:
    case KeyType::path:
      return {{"type", {"string", "number", "boolean"}}};
    case KeyType::size:
    case KeyType::duration:
      return {{"type", {"string", "integer"}}};
    case KeyType::names:
      return one_or_list({{"type", "string"}});
    case KeyType::choice:
      return or_variable(choices(key));
    case KeyType::mapping:
      return {{"type", "object"}};
    case KeyType::special:
      return special_value(key, types);
  }
  return true;
}

std::string description(const KeySpec& key) {
  std::string text = concat(key.help, " (", key_takes(key));
  if (const auto otherwise = key_default(key); !otherwise.empty())
    text += concat("; default: ", otherwise);
  return text + ")";
}

ordered_json mapping_schema(KeyScope scope, const StageTypes& types) {
  ordered_json properties = ordered_json::object();
  for (const KeySpec& key : key_table()) {
    if (key.scope != scope) continue;
    ordered_json value = value_schema(key, types);
    if (value.is_boolean()) value = ordered_json::object();
    ordered_json property = {{"description", description(key)}};
    property.update(value);
    properties[std::string(key.name)] = property;
  }
  return {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
}

// `params:` of a stage are those of its type.
ordered_json params_by_type(const StageTypes& types) {
  ordered_json rules = ordered_json::array();
  for (const StageType& type : types.all()) {
    const std::string kind(stage_kind_name(type.contract.kind));
    const ordered_json is_this = {{"properties", {{kind, {{"const", type.contract.type}}}}},
                                  {"required", {kind}}};
    const ordered_json then = {{"properties", {{"params", params_schema(type.contract)}}}};
    rules.push_back({{"if", is_this}, {"then", then}});
  }
  return rules;
}

// A stage that names a plugin: its stage types are not known here.
ordered_json plugin_stage(ordered_json stage) {
  for (const char* kind : {"producer", "transform", "consumer"}) {
    ordered_json& property = stage["properties"][kind];
    property = {{"description", property["description"]}};
  }
  return stage;
}

}  // namespace

std::string language_schema(const StageTypes& types) {
  ordered_json stage = mapping_schema(KeyScope::stage, types);
  stage["oneOf"] = {{{"required", {"producer"}}},
                    {{"required", {"transform"}}},
                    {{"required", {"consumer"}}},
                    {{"required", {"exec"}}},
                    {{"required", {"mix"}}}};
  stage["allOf"] = params_by_type(types);
  ordered_json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                         {"title", "A graph of Brigade"}};
  schema.update(mapping_schema(KeyScope::top, types));
  schema["properties"]["stages"]["additionalProperties"] = {{"if", {{"required", {"plugin"}}}},
                                                            {"then", reference("plugin_stage")},
                                                            {"else", reference("stage")}};
  schema["properties"]["shared"]["additionalProperties"] = reference("shared");
  schema["patternProperties"] = {{"^x-", ordered_json::object()}};
  schema["definitions"] = {{"stage", stage}, {"plugin_stage", plugin_stage(stage)}};
  for (int scope = 0; scope < kKeyScopes; ++scope) {
    const auto mapping = static_cast<KeyScope>(scope);
    if (mapping != KeyScope::top && mapping != KeyScope::stage)
      schema["definitions"][std::string(scope_name(mapping))] = mapping_schema(mapping, types);
  }
  return schema.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace brigade
