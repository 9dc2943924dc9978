#include "tests/stress/sweep_effort.h"

namespace brigade::stress {

const SweepEffort kSweepEffort{16, 100, 25, true};

}  // namespace brigade::stress
