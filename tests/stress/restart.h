#pragma once

#include <cstdint>

namespace brigade::stress {

/// When the successor of a dead replica starts. Before the repair is a mistake that tests must
/// notice; never is what remains when its restarts are used up.
enum class Restart : std::uint8_t { after_repair, before_repair, never };

}  // namespace brigade::stress
