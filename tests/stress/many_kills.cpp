#include "tests/stress/process_line.h"

namespace brigade::stress {

const int kKillsPerLine = 5'000;

}  // namespace brigade::stress
