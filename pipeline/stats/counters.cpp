#include "pipeline/stats/counters.h"

#include <algorithm>
#include <cmath>

namespace brigade {

std::uint64_t task_time_quantile(const ReplicaCounters& counters, double share) {
  std::array<std::uint64_t, kTimeBuckets> counts;
  std::uint64_t total = 0;
  for (std::size_t b = 0; b < kTimeBuckets; ++b) {
    counts[b] = counters.task_times[b].load(std::memory_order_relaxed);
    total += counts[b];
  }
  if (total == 0) return 0;
  const double wanted = std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(total));
  std::uint64_t below = 0;
  std::size_t bucket = 0;
  for (; bucket + 1 < kTimeBuckets; ++bucket) {
    below += counts[bucket];
    if (below > 0 && static_cast<double>(below) >= wanted) break;
  }
  return std::uint64_t{1} << bucket;
}

}  // namespace brigade
