#pragma once

// The list of operations of the stage `augment`:
// `[random_horizontal_flip, {random_posterize: ...}]`.

#include <memory>
#include <string>
#include <vector>

#include "stages/image/augment/operation.h"
#include "stages/image/listed_types.h"

namespace brigade {

/// All that there are, in the order of docs/AUGMENTATION.md.
const std::vector<OperationType>& operation_types();

/// As written and checked: the names exist and the parameters fit.
struct Operations {
  std::vector<ListedEntry> entries;
};
Result<void> parse_param(const ParamValue& value, Operations& out);
ParamValue print_param(const Operations& value);
template <>
constexpr ParamType param_type_of<Operations>() {
  return ParamType::operations;
}

/// Of a list that was checked.
std::vector<std::unique_ptr<Operation>> make_operations(const Operations& operations);

}  // namespace brigade
