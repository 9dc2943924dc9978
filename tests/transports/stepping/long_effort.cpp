#include "tests/transports/stepping/effort.h"

namespace brigade::stepping {

const Effort kEffort = {3, 2, 2'000'000, 1'000'000};

}  // namespace brigade::stepping
