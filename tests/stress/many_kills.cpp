#include "tests/stress/process_line.h"

namespace brigade::stress {

const int kKillsPerLine = 4'000;

}  // namespace brigade::stress
