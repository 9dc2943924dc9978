#include "tests/transports/stepping/effort.h"

namespace brigade::stepping {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
const Effort kEffort = {1, 1, 2'000, 500, 100};  // ten times slower, and no other orders
#else
const Effort kEffort = {2, 1, 12'000, 3'000, 1'000};
#endif

}  // namespace brigade::stepping
