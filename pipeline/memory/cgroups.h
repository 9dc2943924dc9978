#pragma once

// The limits of control groups for this process, version 1 and 2, also
// inside containers: the tightest quota and memory limit between its
// own group and the root of each mounted hierarchy, and their usage.

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

/// Whether a process that was killed was killed by the kernel for lack of memory. The kernel does
/// not say so of a process, it only counts such kills: a kill is taken for one of them
/// when the count has risen by more than the deaths that have been explained by it. Of one command,
/// one thread.
class MemoryKills {
 public:
  /// `read`: how many there have been; looked at now, and at every death.
  using Read = std::function<std::uint64_t()>;
  explicit MemoryKills(Read read = memory_kill_counter())
      : read_(std::move(read)), explained_(read_()) {}

  /// A worker has been killed by SIGKILL. True: for lack of memory.
  bool explain_one() {
    if (read_() <= explained_) return false;
    ++explained_;
    return true;
  }

 private:
  Read read_;
  std::uint64_t explained_;  // or from before
};

}  // namespace brigade
