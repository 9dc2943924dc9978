#include "tests/stress/process_line.h"

namespace brigade::stress {

const int kKillsPerLine = 150;

}  // namespace brigade::stress
