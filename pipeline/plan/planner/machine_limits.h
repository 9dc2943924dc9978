#pragma once

// The limits of the machine for this process, as plain data, and pure functions that
// turn it into budgets. pipeline/memory/machine_probe fills it from /proc, cgroups and
// getrlimit; tests and `brigade plan` on another machine's numbers fill it by hand. A
// missing limit is kNoLimit (or 0 for counts), never a special case in the calling code.
//
// Everything here is a value; any thread.

#include <cstdint>
#include <string>
#include <vector>

namespace brigade {

inline constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
inline constexpr std::uint64_t kAddressSpaceBytes = std::uint64_t{1} << 47;  ///< x86-64, 4 levels

struct MachineLimits {
  std::uint64_t cores_affinity = 1;  ///< CPUs in this process's affinity mask
  double cores_quota = 0;            ///< of the tightest cgroup, quota / period; 0: none
  /// The CPUs of that mask, those of one core and of one socket beside each other; empty: unknown.
  std::vector<int> cpus = {};

  // Runs that share this machine (ranks of one training), as their launcher says.
  std::uint64_t local_world_size = 1;
  std::int64_t local_rank = -1;          ///< of this run; -1: nobody says
  std::string local_world_said_by = {};  ///< the variable: "LOCAL_WORLD_SIZE"
  std::string local_rank_said_by = {};
  bool cores_are_its_own = false;  ///< the launcher has given each run cores: the mask is a share

  std::uint64_t memory_available_bytes = kNoLimit;     ///< MemAvailable
  std::uint64_t cgroup_memory_limit_bytes = kNoLimit;  ///< of the tightest cgroup (v1 or v2)
  std::uint64_t cgroup_memory_used_bytes = 0;          ///< there, without reclaimable page cache

  std::uint64_t file_bytes_max = kNoLimit;           ///< RLIMIT_FSIZE; holds for memory files too
  std::uint64_t address_space_bytes_max = kNoLimit;  ///< RLIMIT_AS of one process
  std::uint64_t address_space_used_bytes = 0;        ///< mapped by this process already
  std::uint64_t locked_bytes_max = kNoLimit;         ///< RLIMIT_MEMLOCK
  std::uint64_t descriptors_soft = 1024;             ///< RLIMIT_NOFILE
  std::uint64_t descriptors_hard = 1024;
  std::uint64_t descriptors_used = 0;  ///< open in this process already

  std::uint64_t page_bytes = 4096;
  std::uint64_t huge_pages = 0;       ///< of 2 MiB, that somebody has reserved ...
  std::uint64_t huge_pages_free = 0;  ///< ... and of these, which nobody has been promised
  bool has_populate_write = false;    ///< MADV_POPULATE_WRITE (Linux 5.14)
  std::uint64_t gpus = 0;  ///< devices a GPU stage may use; 0 until a probe looks for them

  friend bool operator==(const MachineLimits&, const MachineLimits&) = default;
};

/// Cores this run may count on: min(affinity mask, quota) / local_world_size, at least 1. A part
/// of a core is not counted: a thread on it would be throttled. A mask that is this run's own is
/// not divided.
std::uint64_t usable_cores(const MachineLimits& limits);

/// Where that number comes from, in words: "8 in the affinity mask, shared by 4 runs
/// (LOCAL_WORLD_SIZE); this one (LOCAL_RANK) runs on 2-3".
std::string cores_text(const MachineLimits& limits);

/// The CPUs that this run keeps to, so that runs of one machine do not crowd onto the same ones:
/// its part of the mask, where several runs share it and each knows its number. Else empty: all of
/// them.
std::vector<int> own_cpus(const MachineLimits& limits);

/// "0-3, 8" of {0, 1, 2, 3, 8}, in any order.
std::string cpus_text(std::vector<int> cpus);

/// A number of bytes and where it comes from, in words: "MemAvailable", "the cgroup's limit".
struct MemoryRoom {
  std::uint64_t bytes = kNoLimit;
  std::string limit;
};

/// What all memory of a run together may take: the smaller of MemAvailable and what the cgroup
/// has left, each divided by local_world_size, and `asked_bytes` (top-level `memory:`; 0: none).
MemoryRoom memory_room(const MachineLimits& limits, std::uint64_t asked_bytes);

/// What one process may still map: RLIMIT_AS, or what addresses there are.
MemoryRoom address_space_room(const MachineLimits& limits);

}  // namespace brigade
