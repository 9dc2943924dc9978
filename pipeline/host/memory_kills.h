#pragma once

// Whether a process that was killed was killed by the kernel for lack of memory. The kernel does
// not say so of a process, it only counts such kills (cgroups.h): a kill is taken for one of them
// when the count has risen by more than the deaths that have been explained by it. Of one command,
// one thread.

#include <cstdint>
#include <functional>

#include "pipeline/host/cgroups.h"

namespace brigade {

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
