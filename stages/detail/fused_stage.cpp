#include "stages/detail/fused_stage.h"

#include <algorithm>
#include <utility>

#include <brigade/text.h>
#include "stages/detail/mix_type.h"

namespace brigade {
namespace {

FusedParams& fused_params(void* params) { return *static_cast<FusedParams*>(params); }
const FusedParams& fused_params(const void* params) {
  return *static_cast<const FusedParams*>(params);
}

Result<void> check_link(const StageContract& contract) {
  if (contract.kind != StageKind::transform)
    return Error{concat(quote(contract.type), " is a ", stage_kind_name(contract.kind),
                        "; a list of types in one stage must contain only transforms")};
  if (!contract.metadata.empty())
    return Error{concat(quote(contract.type),
                        " reads file headers and cannot be one of several types in a stage; give "
                        "it its own stage")};
  if (contract.cache)
    return Error{concat(quote(contract.type),
                        " is a source for downstream stages and cannot be one of several types in "
                        "a stage; give it its own stage")};
  if (contract.numbering != Numbering::one_to_one)
    return Error{concat(quote(contract.type),
                        " changes the number of samples and cannot be one of several types in a "
                        "stage; give it its own stage")};
  return {};
}

/// What one call sees: batches as soon as a link needs them.
Result<Takes> common_takes(const std::vector<const StageType*>& links) {
  const StageType* samples = nullptr;
  const StageType* batches = nullptr;
  for (const StageType* link : links) {
    if (link->contract.takes == Takes::samples) samples = link;
    if (link->contract.takes == Takes::batches) batches = link;
  }
  if (samples != nullptr && batches != nullptr)
    return Error{concat(quote(samples->contract.type), " takes one sample at a time and ",
                        quote(batches->contract.type), " takes batches; give each its own stage")};
  if (samples != nullptr) return Takes::samples;
  return batches != nullptr ? Takes::batches : Takes::either;
}

void add_params(const StageContract& link, std::size_t index, const std::string& name,
                StageContract& fused) {
  for (const ParamSpec& own : link.params) {
    ParamSpec spec = own;
    spec.name = concat(name, ".", own.name);
    spec.set = [index, set = own.set](void* params, const ParamValue& value) {
      return set(fused_params(params).links[index].get(), value);
    };
    spec.get = [index, get = own.get](const void* params) {
      return get(fused_params(params).links[index].get());
    };
    fused.params.push_back(std::move(spec));
  }
  for (ReportSpec report : link.reports) {
    report.name = concat(name, ".", report.name);
    fused.reports.push_back(std::move(report));
  }
}

void add_named(const StageContract& link, std::vector<std::string>& names) {
  for (const TensorPattern& pattern : link.inputs) names.push_back(pattern.name);
  for (const auto& group : link.one_of)
    for (const TensorPattern& pattern : group) names.push_back(pattern.name);
}

std::string tensors_text(const Ports& ports) {
  std::vector<std::string> texts;
  for (const TensorType& tensor : ports.tensors) texts.push_back(tensor.text());
  return texts.empty() ? "nothing" : join(texts, ", ");
}

bool has(const Ports& ports, const TensorPattern& pattern) {
  const TensorType* type = ports.find(pattern.name);
  return type != nullptr && pattern.accepts(*type);
}

Result<void> check_inputs(const StageContract& link, const Ports& in) {
  for (const TensorPattern& pattern : link.inputs) {
    if (!has(in, pattern))
      return Error{concat("it needs ", pattern.text(), ", but its input is ", tensors_text(in))};
  }
  for (const auto& group : link.one_of) {
    std::vector<std::string> texts;
    for (const TensorPattern& pattern : group) texts.push_back(pattern.text());
    if (std::none_of(group.begin(), group.end(),
                     [&](const TensorPattern& pattern) { return has(in, pattern); }))
      return Error{
          concat("it needs one of ", join(texts, "; "), ", but its input is ", tensors_text(in))};
  }
  return {};
}

/// What is there after a link: its own tensors, then what it lets pass.
Ports after(const StageContract& link, const FusedPorts::Link& ports) {
  Ports there = ports.own;
  if (!link.rest_passes) return there;
  for (const TensorType& tensor : ports.in.tensors)
    if (!link.names(tensor.name) && ports.own.find(tensor.name) == nullptr)
      there.tensors.push_back(tensor);
  return there;
}

StageContract fused_contract(const std::vector<const StageType*>& links, Takes takes) {
  StageContract fused;
  std::vector<std::string> types;
  for (const StageType* link : links) types.push_back(link->contract.type);
  fused.type = concat("[", join(types, ", "), "]");
  fused.help = "Several transforms in one process.";
  fused.takes = takes;
  fused.params_type = typeid(FusedParams).name();
  fused.inputs = links.front()->contract.inputs;
  fused.one_of = links.front()->contract.one_of;
  fused.several_inputs = links.front()->contract.several_inputs;
  fused.rest_passes = true;
  const std::vector<std::string> names = fused_link_names(links);
  for (std::size_t i = 0; i < links.size(); ++i) {
    const StageContract& link = links[i]->contract;
    add_params(link, i, names[i], fused);
    if (i > 0) add_named(link, fused.named_inside);
    fused.rest_passes &= link.rest_passes;
    fused.may_drop |= link.may_drop;
    fused.stateful |= link.stateful;
    if (!link.private_bytes_by.empty() && fused.private_bytes_by.empty())
      fused.private_bytes_by = concat(names[i], ".", link.private_bytes_by);
  }
  return fused;
}

}  // namespace

std::vector<std::string> fused_link_names(const std::vector<const StageType*>& links) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const auto same = [&](const StageType* other) {
      return other->contract.type == links[i]->contract.type;
    };
    const auto before = std::count_if(links.begin(), links.begin() + static_cast<long>(i), same);
    names.push_back(before == 0 ? links[i]->contract.type
                                : concat(links[i]->contract.type, "#", before + 1));
  }
  return names;
}

Result<StageType> fused_type(std::vector<const StageType*> links) {
  for (const StageType* link : links) BRIGADE_TRY(check_link(link->contract));
  BRIGADE_ASSIGN(const Takes takes, common_takes(links));
  StageType fused;
  fused.contract = fused_contract(links, takes);
  fused.contract.make_params = [links] {
    auto params = std::make_shared<FusedParams>();
    for (const StageType* link : links) params->links.push_back(link->contract.make_params());
    return std::static_pointer_cast<void>(params);
  };
  fused.contract.draws = [links](const void* params) {
    for (std::size_t i = 0; i < links.size(); ++i) {
      const auto& draws = links[i]->contract.draws;
      if (draws && draws(fused_params(params).links[i].get())) return true;
    }
    return false;
  };
  if (std::all_of(links.begin(), links.end(),
                  [](const StageType* link) { return bool(link->contract.private_bytes); }))
    fused.contract.private_bytes = [links](const void* params) {
      std::uint64_t bytes = 0;
      for (std::size_t i = 0; i < links.size(); ++i)
        bytes += links[i]->contract.private_bytes(fused_params(params).links[i].get());
      return bytes;
    };
  fused.links = std::move(links);
  fused.contract.outputs = [links = fused.links](const void* params, const Ports& in,
                                                 const FileMetadata&) -> Result<Ports> {
    StageType only_links;
    only_links.links = links;
    BRIGADE_ASSIGN(FusedPorts ports, fused_ports(only_links, params, in));
    return std::move(ports.out);
  };
  return fused;
}

Result<FusedPorts> fused_ports(const StageType& fused, const void* params, const Ports& in) {
  const std::vector<std::string> names = fused_link_names(fused.links);
  FusedPorts ports;
  Ports there = in;
  std::vector<std::string> written;
  for (std::size_t i = 0; i < fused.links.size(); ++i) {
    const StageContract& contract = fused.links[i]->contract;
    FusedPorts::Link link{there, {}};
    if (auto fits = check_inputs(contract, link.in); !fits) return fits.error().within(names[i]);
    auto own = contract.outputs(fused_params(params).links[i].get(), link.in, {});
    if (!own) return own.error().within(names[i]);
    link.own = std::move(*own);
    for (const TensorType& tensor : link.own.tensors) written.push_back(tensor.name);
    there = after(contract, link);
    ports.links.push_back(std::move(link));
  }
  for (const TensorType& tensor : there.tensors)
    if (std::find(written.begin(), written.end(), tensor.name) != written.end())
      ports.out.tensors.push_back(tensor);
  return ports;
}

const StageType* find_type_or_fused(const StageTypes& types, std::string_view name,
                                    StageType& fused) {
  if (name == kMixType) return &mix_type();
  if (!name.starts_with('[') || !name.ends_with(']')) return types.find(name);
  std::vector<const StageType*> links;
  for (const std::string_view link : split(name.substr(1, name.size() - 2), ',')) {
    links.push_back(types.find(trim(link)));
    if (links.back() == nullptr) return nullptr;
  }
  auto made = fused_type(std::move(links));
  if (!made) return nullptr;
  fused = std::move(*made);
  return &fused;
}

}  // namespace brigade
