#include "tests/transports/stepping/effort.h"

namespace brigade::stepping {

const Effort kEffort = {3, 2, 300'000, 300'000, 200'000};

}  // namespace brigade::stepping
