#include "pipeline/plan/planner/machine_limits.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(UsableCores, AreTheAffinityMaskWithoutAQuota) {
  EXPECT_EQ(usable_cores({.cores_affinity = 8}), 8u);
}

TEST(UsableCores, AreCutToTheWholeCoresOfTheQuota) {
  EXPECT_EQ(usable_cores({.cores_affinity = 8, .cores_quota = 2.9}), 2u);
  EXPECT_EQ(usable_cores({.cores_affinity = 2, .cores_quota = 64}), 2u);
}

TEST(UsableCores, AreSharedByTheRunsOfAMachine) {
  EXPECT_EQ(usable_cores({.cores_affinity = 16, .local_world_size = 4}), 4u);
}

TEST(UsableCores, AreNotDividedWhereTheLauncherHasDoneIt) {
  const MachineLimits own{
      .cores_affinity = 4, .cores_quota = 8, .local_world_size = 4, .cores_are_its_own = true};
  EXPECT_EQ(usable_cores(own), 2u) << "the quota is that of all of them";
  EXPECT_EQ(usable_cores({.cores_affinity = 4, .local_world_size = 4, .cores_are_its_own = true}),
            4u);
}

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

TEST(OwnCpus, AreAllWhereThereIsNothingToDivide) {
  const MachineLimits second{.cpus = {0, 1}, .local_world_size = 2, .local_rank = 1};
  EXPECT_EQ(own_cpus(second), std::vector<int>{1});
  MachineLimits limits = second;
  limits.cores_are_its_own = true;
  EXPECT_TRUE(own_cpus(limits).empty()) << "the launcher has done it";
  limits = second;
  limits.local_rank = -1;
  EXPECT_TRUE(own_cpus(limits).empty()) << "it does not know its number";
  limits = second;
  limits.local_rank = 2;
  EXPECT_TRUE(own_cpus(limits).empty()) << "a number that cannot be";
  limits = second;
  limits.local_world_size = 3;
  EXPECT_TRUE(own_cpus(limits).empty()) << "more runs than cores";
  limits = second;
  limits.local_world_size = 1;
  EXPECT_TRUE(own_cpus(limits).empty()) << "the only run";
}

TEST(CoresText, SaysWhereTheNumberComesFrom) {
  EXPECT_EQ(cores_text({.cores_affinity = 8}), "8 in the affinity mask");
  MachineLimits limits{.cores_affinity = 8,
                       .cores_quota = 6.5,
                       .cpus = {0, 4, 1, 5, 2, 6, 3, 7},
                       .local_world_size = 2,
                       .local_rank = 1,
                       .local_world_said_by = "OMPI_COMM_WORLD_LOCAL_SIZE",
                       .local_rank_said_by = "OMPI_COMM_WORLD_LOCAL_RANK"};
  EXPECT_EQ(cores_text(limits),
            "8 in the affinity mask, the cgroup's quota is 6.5, shared by 2 runs "
            "(OMPI_COMM_WORLD_LOCAL_SIZE); this one (OMPI_COMM_WORLD_LOCAL_RANK) runs on 2-3, 6-7");
  limits.cores_are_its_own = true;
  EXPECT_EQ(cores_text(limits),
            "8 in the affinity mask that the launcher gave this one of 2 runs "
            "(OMPI_COMM_WORLD_LOCAL_SIZE), the cgroup's quota is 6.5 for all");
  limits = {.cores_affinity = 8, .local_world_size = 2, .local_world_said_by = "LOCAL_WORLD_SIZE"};
  EXPECT_EQ(cores_text(limits), "8 in the affinity mask, shared by 2 runs (LOCAL_WORLD_SIZE)");
}

TEST(UsableCores, AreNeverFewerThanOne) {
  EXPECT_EQ(usable_cores({.cores_affinity = 0}), 1u);
  EXPECT_EQ(usable_cores({.cores_affinity = 4, .cores_quota = 0.5}), 1u);
  EXPECT_EQ(usable_cores({.cores_affinity = 2, .local_world_size = 8}), 1u);
  EXPECT_EQ(usable_cores({.cores_affinity = 2, .local_world_size = 0}), 2u);
}

TEST(MemoryRoom, IsMemAvailableWhereNoCgroupLimits) {
  const MemoryRoom room = memory_room({.memory_available_bytes = 1000}, 0);
  EXPECT_EQ(room.bytes, 1000u);
  EXPECT_EQ(room.limit, "MemAvailable");
}

TEST(MemoryRoom, IsWhatTheCgroupHasLeftWhereThatIsLess) {
  const MachineLimits limits{.memory_available_bytes = 1000,
                             .cgroup_memory_limit_bytes = 800,
                             .cgroup_memory_used_bytes = 300};
  const MemoryRoom room = memory_room(limits, 0);
  EXPECT_EQ(room.bytes, 500u);
  EXPECT_EQ(room.limit, "what the cgroup has left");
}

TEST(MemoryRoom, IsNothingInACgroupThatIsOverItsLimit) {
  const MachineLimits limits{.cgroup_memory_limit_bytes = 800, .cgroup_memory_used_bytes = 900};
  EXPECT_EQ(memory_room(limits, 0).bytes, 0u);
}

TEST(MemoryRoom, IsCutByWhatTheGraphAsksForButNeverRaised) {
  EXPECT_EQ(memory_room({.memory_available_bytes = 1000}, 600).bytes, 600u);
  EXPECT_EQ(memory_room({.memory_available_bytes = 1000}, 600).limit, "memory:");
  EXPECT_EQ(memory_room({.memory_available_bytes = 1000}, 6000).bytes, 1000u);
}

TEST(MemoryRoom, IsSharedByTheRunsOfAMachine) {
  const MemoryRoom room = memory_room({.local_world_size = 4, .memory_available_bytes = 1000}, 0);
  EXPECT_EQ(room.bytes, 250u);
  EXPECT_EQ(room.limit, "MemAvailable, shared by 4 runs");
}

TEST(MemoryRoom, HasNoLimitWhereThereIsNone) {
  EXPECT_EQ(memory_room({.local_world_size = 4}, 0).bytes, kNoLimit);
}

TEST(AddressSpaceRoom, IsWhatIsLeftOfTheLimit) {
  MachineLimits limits{.address_space_bytes_max = 100, .address_space_used_bytes = 30};
  EXPECT_EQ(address_space_room(limits).bytes, 70u);
  EXPECT_EQ(address_space_room(limits).limit, "RLIMIT_AS, `ulimit -v`");
  limits.address_space_used_bytes = 130;
  EXPECT_EQ(address_space_room(limits).bytes, 0u);
}

TEST(AddressSpaceRoom, IsNeverMoreThanThereAreAddresses) {
  EXPECT_EQ(address_space_room({}).bytes, kAddressSpaceBytes);
  EXPECT_EQ(address_space_room({}).limit, "what a process can map");
}

}  // namespace
}  // namespace brigade
