#pragma once

// The parameter `targets` of the stage `augment`: `[mask, {boxes: {format: xywh, with: [label]}}]`.

#include <memory>
#include <vector>

#include "stages/image/targets/target_kinds.h"

namespace brigade {

/// All kinds that there are, in the order of docs/AUGMENTATION.md.
const std::vector<TargetType>& target_types();

/// As written and checked: the kinds exist and the parameters fit.
struct Targets {
  std::vector<ListedEntry> entries;
};
Result<void> parse_param(const ParamValue& value, Targets& out);
ParamValue print_param(const Targets& value);
template <>
constexpr ParamType param_type_of<Targets>() {
  return ParamType::operations;
}

/// Of a list that was checked, in the order in which they have to be written.
std::vector<std::unique_ptr<Target>> make_targets(const Targets& targets);

/// What the targets write beside the picture. Every tensor is named once.
Result<void> add_target_outputs(const Targets& targets, const Ports& in, const PictureDims& dims,
                                Ports& out);

}  // namespace brigade
