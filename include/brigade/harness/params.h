#pragma once

// Parameters of a stage type from texts, and the file metadata its contract asks for: of the
// harness
// (<brigade/harness.h>). Any thread.

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <brigade/export.h>
#include <brigade/result.h>
#include <brigade/stage_contract.h>

namespace brigade::testing_support {

/// Parameters by name; a text in brackets is a list, one in braces a map: "[1, 2]",
/// "{a: x, b: [y, z]}".
using ParamTexts = std::vector<std::pair<std::string, std::string>>;

BRIGADE_API ParamValue param_value(std::string_view text);

/// The contract's struct. Errors name the parameter.
BRIGADE_API Result<std::shared_ptr<void>> make_params(const StageContract& contract,
                                                      const ParamTexts& texts);

/// The metadata that the contract asks for, from the files themselves; missing files give none.
BRIGADE_API FileMetadata read_metadata(const StageContract& contract, const ParamTexts& texts);

}  // namespace brigade::testing_support
