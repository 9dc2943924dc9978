#pragma once

// What control groups grant this process, version 1 and 2, also inside containers: the tightest
// quota and memory limit on the way from its own group up to the root of each mounted hierarchy;
// and what they count.

#include <cstdint>
#include <functional>
#include <string>

namespace brigade {

struct CgroupLimits {
  double cores = 0;                                      ///< quota / period; 0: none
  std::uint64_t memory_limit_bytes = ~std::uint64_t{0};  ///< of the group with the least room
  std::uint64_t memory_used_bytes = 0;  ///< there, without page cache that can be dropped
};

/// `root`: put in front of /proc and of mount points, so that tests can look at a folder. Missing
/// or odd files mean no limit.
CgroupLimits read_cgroups(const std::string& root = "");

/// Says how many processes the kernel has killed for lack of memory: in this process's own group,
/// and where no group counts them, on the whole machine; 0 where nobody does. The file is looked
/// for here and stays open, so that a call takes 2 us instead of 70: it comes before a repair.
std::function<std::uint64_t()> memory_kill_counter(const std::string& root = "");

}  // namespace brigade
