#include "pipeline/process/stage_help.h"

#include "base/text.h"
#include "pipeline/plan/text_table.h"

namespace brigade {
namespace {

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

std::string param_kind(const ParamSpec& param) {
  if (!param.choices.empty()) return join(param.choices, " | ");
  const std::string range = param_range_text(param);
  return concat(param_type_name(param.type), range.empty() ? "" : " ", range);
}

std::string default_text(const ParamSpec& param) {
  if (param.required) return "required";
  const std::string value = value_text(param.default_value);
  return value.empty() ? "optional" : concat("default ", value);
}

std::string params_text(const StageContract& contract) {
  if (contract.params.empty()) return "";
  TextTable table({Align::left, Align::left, Align::left, Align::left});
  for (const ParamSpec& param : contract.params) {
    table.add({param.name, param_kind(param), default_text(param), param.help});
  }
  return "\nparameters\n" + table.text("  ");
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
  text += table.text("  ");
  if (contract.inputs.empty() && contract.one_of.empty()) text += "  any tensors\n";
  if (contract.rest_passes) text += "  other tensors travel on with the sample\n";
  if (contract.several_inputs) text += "  several sources may be joined\n";
  return text;
}

std::string reports_text(const StageContract& contract) {
  if (contract.reports.empty()) return "";
  TextTable table({Align::left, Align::left});
  for (const ReportSpec& report : contract.reports) table.add({report.name, report.help});
  return "\nreports\n" + table.text("  ");
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
  return text + "\n`brigade stages NAME` describes one of them.\n";
}

std::string stage_description(const StageType& type) {
  const StageContract& contract = type.contract;
  std::string text =
      concat(stage_kind_name(contract.kind), ": ", contract.type, "\n  ", contract.help, '\n');
  if (!type.module.empty()) text += concat("  from the module brigade_", type.module, ".so\n");
  if (contract.may_drop) text += "  may drop samples\n";
  if (contract.stateful) text += "  keeps state between samples\n";
  return concat(text, inputs_text(contract), params_text(contract), reports_text(contract),
                example_text(contract));
}

}  // namespace brigade
