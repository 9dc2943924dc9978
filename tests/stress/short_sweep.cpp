#include "tests/stress/sweep_effort.h"

namespace brigade::stress {

const SweepEffort kSweepEffort{};

}  // namespace brigade::stress
