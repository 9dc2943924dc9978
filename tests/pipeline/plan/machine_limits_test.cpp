#include "pipeline/plan/machine_limits.h"

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
  EXPECT_EQ(memory_room({.local_world_size = 4, .memory_available_bytes = 1000}, 0).bytes, 250u);
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
