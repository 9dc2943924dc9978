#include "pipeline/cli/help/stage_help.h"

#include <brigade/text.h>
#include "base/text_table.h"
#include "pipeline/config/language/key_text.h"

namespace brigade {
namespace {

constexpr double kUnboundedFrom = 2147483648.0;

std::string value_text(const ParamValue& value) {
  switch (value.kind) {
    case ParamValue::Kind::scalar:
      return value.text.empty() ? "\"\"" : value.text;
    case ParamValue::Kind::list: {
      std::vector<std::string> items;
      for (const ParamValue& item : value.items) items.push_back(value_text(item));
      return concat("[", join(items, ", "), "]");
    }
    case ParamValue::Kind::map:
      return "{...}";
    case ParamValue::Kind::null:
      break;
  }
  return "";
}

// A limit that nobody meets is not told.
std::string range_text(const ParamSpec& param) {
  const bool whole = param.type == ParamType::integer || param.type == ParamType::integers;
  const bool endless = whole && param.minimum && param.maximum && *param.maximum >= kUnboundedFrom;
  if (endless) return concat("of at least ", static_cast<std::int64_t>(*param.minimum));
  return param_range_text(param);
}

std::string param_kind(const ParamSpec& param) {
  if (!param.choices.empty()) return join(param.choices, ", ", " or ");
  const std::string range = range_text(param);
  return concat(param_type_name(param.type), range.empty() ? "" : " ", range);
}

std::string default_text(const ParamSpec& param) {
  if (param.required) return "required";
  const std::string value = value_text(param.default_value);
  return value.empty() ? "optional" : concat("default ", value);
}

std::string params_text(const StageContract& contract) {
  if (contract.params.empty()) return "";
  TextTable table({Align::left, Align::left, Align::left});
  for (const ParamSpec& param : contract.params) {
    table.add({param.name, default_text(param), concat(param.help, " (", param_kind(param), ")")});
  }
  return "\nparameters\n" + table.wrapped("  ", kTextWidth);
}

std::string takes_text(Takes takes) {
  switch (takes) {
    case Takes::samples:
      return "samples";
    case Takes::batches:
      return "batches (its edge needs a `batch:`)";
    case Takes::either:
      break;
  }
  return "samples, or batches where its edge has a `batch:`";
}

std::string inputs_text(const StageContract& contract) {
  if (contract.kind == StageKind::producer) return "";
  std::string text = concat("\ntakes ", takes_text(contract.takes), "\n");
  TextTable table({Align::left, Align::left});
  for (const TensorPattern& input : contract.inputs) table.add({input.text(), input.help});
  for (const auto& group : contract.one_of) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      table.add({concat(i == 0 ? "" : "or ", group[i].text()), group[i].help});
    }
  }
  text += table.wrapped("  ", kTextWidth);
  if (contract.inputs.empty() && contract.one_of.empty()) text += "  any tensors\n";
  if (contract.rest_passes) text += "  other tensors pass through with the sample\n";
  if (contract.several_inputs) text += "  several sources may be joined\n";
  return text;
}

// What a producer gives depends on its parameters and files, a transform's output also on its
// input: only without all of these it can be told here.
std::string outputs_text(const StageContract& contract) {
  if (contract.kind == StageKind::consumer) return "";
  constexpr const char* kAsk =
      "  depends on its parameters and input: `brigade graph FILE` shows it\n";
  bool needs = contract.kind != StageKind::producer || !contract.metadata.empty();
  for (const ParamSpec& param : contract.params) needs = needs || param.required;
  if (needs) return concat("\noutputs\n", kAsk);
  const auto params = contract.make_params();
  const auto ports = contract.outputs(params.get(), Ports{}, FileMetadata{});
  if (!ports) return concat("\noutputs\n", kAsk);
  std::string text = "\noutputs, with the defaults\n";
  for (const TensorType& tensor : ports->tensors) text += concat("  ", tensor.text(), '\n');
  return text;
}

std::string reports_text(const StageContract& contract) {
  if (contract.reports.empty()) return "";
  TextTable table({Align::left, Align::left});
  for (const ReportSpec& report : contract.reports) table.add({report.name, report.help});
  return "\nreports\n" + table.wrapped("  ", kTextWidth);
}

std::string example_text(const StageContract& contract) {
  if (contract.example.empty()) return "";
  std::string text = "\nexample\n  my_stage:\n";
  for (std::string_view line : split(contract.example, '\n')) {
    if (!line.empty()) text += concat("    ", line, '\n');
  }
  return text;
}

}  // namespace

std::string stage_list(const StageTypes& types) {
  std::string text;
  for (StageKind kind : {StageKind::producer, StageKind::transform, StageKind::consumer}) {
    TextTable table({Align::left, Align::left});
    for (const StageType& type : types.all()) {
      if (type.contract.kind == kind) table.add({type.contract.type, type.contract.help});
    }
    const std::string rows = table.text("  ");
    if (rows.empty()) continue;
    text += concat(text.empty() ? "" : "\n", stage_kind_name(kind), "s\n", rows);
  }
  return text + "\n`brigade stages NAME` describes a type.\n";
}

std::string stage_description(const StageType& type) {
  const StageContract& contract = type.contract;
  std::string text =
      concat(stage_kind_name(contract.kind), ": ", contract.type, "\n  ", contract.help, '\n');
  if (type.module.starts_with('/')) {
    text += concat("  from the plugin library ", type.module, '\n');
  } else if (!type.module.empty()) {
    text += concat("  from the module brigade_", type.module, ".so\n");
  }
  if (contract.may_drop) text += "  may drop samples\n";
  if (contract.numbering == Numbering::expand)
    text += "  outputs several samples for each input, as its parameters say\n";
  if (contract.numbering == Numbering::flat_map)
    text += "  is a flat_map: any number of outputs for each sample; has one replica\n";
  if (contract.stateful) text += "  keeps state between samples\n";
  return concat(text, inputs_text(contract), outputs_text(contract), params_text(contract),
                reports_text(contract), example_text(contract));
}

namespace {

std::string takes_text(const KeySpec& key) {
  std::string text = key_takes(key);
  if (!key.unit.empty() && text.starts_with("a whole number"))
    text.replace(0, sizeof "a whole number" - 1, concat("a number of ", key.unit));
  const std::string otherwise = key_default(key);
  return otherwise.empty() ? text : concat(text, "; default ", otherwise);
}

std::string scope_keys(KeyScope scope) {
  TextTable table({Align::left, Align::left});
  for (const KeySpec& key : key_table()) {
    if (key.scope != scope) continue;
    table.add({std::string(key.name), concat(key.help, " (", takes_text(key), ")")});
  }
  return concat(scope_text(scope), '\n', table.wrapped("  ", kTextWidth));
}

}  // namespace

std::string key_help() {
  std::string text;
  for (int scope = 0; scope < kKeyScopes; ++scope)
    text += concat(scope == 0 ? "" : "\n", scope_keys(static_cast<KeyScope>(scope)));
  return text;
}

}  // namespace brigade
