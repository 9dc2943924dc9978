#include "pipeline/plan/planner/machine_limits.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(OwnCpus, ArePartsOfTheMaskThatDoNotOverlapAndLeaveNothingOut) {
  for (const int runs : {2, 3, 5, 7}) {
    std::vector<int> all;
    for (int rank = 0; rank < runs; ++rank) {
      const MachineLimits limits{.cores_affinity = 7,
                                 .cpus = {0, 8, 1, 9, 2, 10, 4},
                                 .local_world_size = static_cast<std::uint64_t>(runs),
                                 .local_rank = rank};
      const std::vector<int> own = own_cpus(limits);
      EXPECT_GE(own.size(), usable_cores(limits));
      all.insert(all.end(), own.begin(), own.end());
    }
    EXPECT_EQ(all, (std::vector<int>{0, 8, 1, 9, 2, 10, 4})) << runs << " runs";
  }
}

}  // namespace
}  // namespace brigade
