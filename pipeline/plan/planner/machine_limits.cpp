#include "pipeline/plan/planner/machine_limits.h"

#include <algorithm>
#include <cstddef>

#include <brigade/text.h>

namespace brigade {

namespace {

std::uint64_t runs_on(const MachineLimits& limits) {
  return std::max<std::uint64_t>(limits.local_world_size, 1);
}

}  // namespace

std::uint64_t usable_cores(const MachineLimits& limits) {
  const std::uint64_t runs = runs_on(limits);
  std::uint64_t cores = std::max<std::uint64_t>(limits.cores_affinity, 1);
  if (!limits.cores_are_its_own) cores /= runs;
  if (limits.cores_quota > 0)
    cores = std::min(cores, static_cast<std::uint64_t>(limits.cores_quota) / runs);
  return std::max<std::uint64_t>(cores, 1);
}

std::vector<int> own_cpus(const MachineLimits& limits) {
  const std::uint64_t runs = runs_on(limits);
  const std::uint64_t cpus = limits.cpus.size();
  const auto rank = static_cast<std::uint64_t>(limits.local_rank);
  if (runs == 1 || limits.local_rank < 0 || rank >= runs || limits.cores_are_its_own || cpus < runs)
    return {};
  const auto begin = [&](std::uint64_t part) {
    return limits.cpus.begin() + static_cast<std::ptrdiff_t>(cpus * part / runs);
  };
  return {begin(rank), begin(rank + 1)};
}

std::string cpus_text(std::vector<int> cpus) {
  std::sort(cpus.begin(), cpus.end());
  std::vector<std::string> ranges;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    ranges.push_back(last == i ? concat(cpus[i]) : concat(cpus[i], "-", cpus[last]));
    i = last + 1;
  }
  return join(ranges, ", ");
}

std::string cores_text(const MachineLimits& limits) {
  const std::uint64_t runs = runs_on(limits);
  const std::string said_by = concat(" (", limits.local_world_said_by, ")");
  std::string text = concat(limits.cores_affinity, " in the affinity mask");
  if (limits.cores_are_its_own)
    text += concat(" that the launcher assigned to this run, one of ", runs, " runs", said_by);
  if (limits.cores_quota > 0) text += concat(", the cgroup's quota is ", limits.cores_quota);
  if (runs == 1 || (limits.cores_are_its_own && limits.cores_quota == 0)) return text;
  text += limits.cores_are_its_own ? " for all of them"
                                   : concat(", shared by ", runs, " runs", said_by);
  const std::vector<int> own = own_cpus(limits);
  if (own.empty()) return text;
  return concat(text, "; this run (", limits.local_rank_said_by, ") runs on ", cpus_text(own));
}

MemoryRoom memory_room(const MachineLimits& limits, std::uint64_t asked_bytes) {
  const auto share = [&](std::uint64_t bytes) {
    return bytes == kNoLimit ? kNoLimit : bytes / runs_on(limits);
  };
  const std::uint64_t group_limit = limits.cgroup_memory_limit_bytes;
  const std::uint64_t group_left =
      group_limit == kNoLimit
          ? kNoLimit
          : group_limit - std::min(group_limit, limits.cgroup_memory_used_bytes);

  MemoryRoom room{share(limits.memory_available_bytes), "MemAvailable"};
  if (share(group_left) < room.bytes) room = {share(group_left), "free memory of the cgroup"};
  if (room.bytes != kNoLimit && runs_on(limits) > 1)
    room.limit += concat(", shared by ", limits.local_world_size, " runs");
  if (asked_bytes != 0 && asked_bytes <= room.bytes) room = {asked_bytes, "memory:"};
  return room;
}

MemoryRoom address_space_room(const MachineLimits& limits) {
  const std::uint64_t limit = limits.address_space_bytes_max;
  if (limit >= kAddressSpaceBytes) return {kAddressSpaceBytes, "address space of a process"};
  return {limit - std::min(limit, limits.address_space_used_bytes), "RLIMIT_AS, `ulimit -v`"};
}

}  // namespace brigade
