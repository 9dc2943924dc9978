#pragma once

// The keys of key_table.h that a stage may have. Pure.

#include <cstdint>
#include <string_view>

#include "pipeline/config/graph/valid_graph.h"

namespace brigade {

/// What of KeyUsers (key_table.h) the stage is; without a type, all that its kind may be.
std::uint8_t key_users(const ValidStage& stage);

/// Whether a producer that is only drawn from by a mixture may have it, and the mixture may not.
bool is_key_of_part(std::string_view key);

}  // namespace brigade
