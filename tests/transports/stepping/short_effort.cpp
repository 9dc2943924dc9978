#include "tests/transports/stepping/effort.h"

namespace brigade::stepping {

const Effort kEffort = {2, 1, 12'000, 1'000};

}  // namespace brigade::stepping
