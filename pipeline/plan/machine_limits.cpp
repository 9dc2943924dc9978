#include "pipeline/plan/machine_limits.h"

#include <algorithm>

namespace brigade {

std::uint64_t usable_cores(const MachineLimits& limits) {
  std::uint64_t cores = std::max<std::uint64_t>(limits.cores_affinity, 1);
  if (limits.cores_quota > 0 && limits.cores_quota < static_cast<double>(cores))
    cores = static_cast<std::uint64_t>(limits.cores_quota);
  cores /= std::max<std::uint64_t>(limits.local_world_size, 1);
  return std::max<std::uint64_t>(cores, 1);
}

MemoryRoom memory_room(const MachineLimits& limits, std::uint64_t asked_bytes) {
  const auto share = [&](std::uint64_t bytes) {
    return bytes == kNoLimit ? kNoLimit
                             : bytes / std::max<std::uint64_t>(limits.local_world_size, 1);
  };
  const std::uint64_t group_limit = limits.cgroup_memory_limit_bytes;
  const std::uint64_t group_left =
      group_limit == kNoLimit
          ? kNoLimit
          : group_limit - std::min(group_limit, limits.cgroup_memory_used_bytes);

  MemoryRoom room{share(limits.memory_available_bytes), "MemAvailable"};
  if (share(group_left) < room.bytes) room = {share(group_left), "what the cgroup has left"};
  if (asked_bytes != 0 && asked_bytes <= room.bytes) room = {asked_bytes, "memory:"};
  return room;
}

MemoryRoom address_space_room(const MachineLimits& limits) {
  const std::uint64_t limit = limits.address_space_bytes_max;
  if (limit >= kAddressSpaceBytes) return {kAddressSpaceBytes, "what a process can map"};
  return {limit - std::min(limit, limits.address_space_used_bytes), "RLIMIT_AS, `ulimit -v`"};
}

}  // namespace brigade
