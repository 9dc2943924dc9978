#include <brigade/stage_contract.h>

#include <algorithm>

#include <brigade/random.h>
#include <brigade/text.h>

namespace brigade {
namespace {

void append_value(std::string& out, const ParamValue& value) {
  out += concat(static_cast<int>(value.kind), quote(value.text), '(');
  for (const ParamValue& item : value.items) append_value(out, item);
  for (const auto& [key, entry] : value.entries) {
    out += quote(key);
    append_value(out, entry);
  }
  out += ')';
}

void append_param(std::string& out, const ParamSpec& param) {
  out += concat("param ", quote(param.name), static_cast<int>(param.type), param.required);
  append_value(out, param.default_value);
  if (param.minimum) out += concat(" min ", *param.minimum);
  if (param.maximum) out += concat(" max ", *param.maximum);
  for (const std::string& choice : param.choices) out += quote(choice);
  out += '\n';
}

}  // namespace

std::string_view stage_kind_name(StageKind kind) {
  switch (kind) {
    case StageKind::producer:
      return "producer";
    case StageKind::transform:
      return "transform";
    case StageKind::consumer:
      return "consumer";
  }
  return "stage";
}

const ParamSpec* StageContract::find_param(std::string_view name) const {
  for (const ParamSpec& param : params)
    if (param.name == name) return &param;
  return nullptr;
}

bool StageContract::names(std::string_view tensor) const {
  if (std::find(named_inside.begin(), named_inside.end(), tensor) != named_inside.end())
    return true;
  const auto same = [&](const TensorPattern& pattern) { return pattern.name == tensor; };
  if (std::any_of(inputs.begin(), inputs.end(), same)) return true;
  return std::any_of(one_of.begin(), one_of.end(), [&](const auto& group) {
    return std::any_of(group.begin(), group.end(), same);
  });
}

// A canonical text of the contract, hashed. Help texts and examples may change freely.
std::uint64_t StageContract::hash() const {
  std::string text =
      concat(quote(type), static_cast<int>(kind), static_cast<int>(takes), rest_passes,
             several_inputs, may_drop, static_cast<int>(numbering), stateful, saves, holds,
             holds_for_device, cache, quote(params_type), '\n');
  if (reads_on_device || writes_on_device)
    text += concat("device ", reads_on_device != nullptr, writes_on_device != nullptr, '\n');
  if (uploads) text += "uploads\n";
  for (const ParamSpec& param : params) append_param(text, param);
  for (const TensorPattern& input : inputs) text += concat("input ", input.text(), '\n');
  for (const auto& group : one_of) {
    text += "one of";
    for (const TensorPattern& pattern : group) text += concat(' ', pattern.text());
    text += '\n';
  }
  for (const std::string& file_header : metadata) text += concat("fact ", file_header, '\n');
  for (const std::string& port : source_ports) text += concat("port ", port, '\n');
  for (const ReportSpec& report : reports)
    text += concat("report ", report.name, static_cast<int>(report.combine), '\n');
  return stream_id(text);
}

}  // namespace brigade
