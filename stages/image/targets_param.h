#pragma once

// The parameter `targets` of decode_image and `augment`, which name the
// tensors that are transformed with an image: `[mask, {boxes: {format:
// xywh, with: [label]}}]`. The kinds are in stages/image/targets.

#include <vector>

#include <brigade/types.h>
#include "stages/image/listed_types.h"

namespace brigade {

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

/// Height and width of all pictures, as types, before and behind what moves them.
struct PictureDims {
  Dim height_before;
  Dim width_before;
  Dim height;
  Dim width;
};

/// What the targets write beside the picture. Every tensor is named once.
Result<void> add_target_outputs(const Targets& targets, const Ports& in, const PictureDims& dims,
                                Ports& out);

}  // namespace brigade
