#pragma once

// For what a program has that it may fork with, as interpreters do. The child has a copy of every
// object and none of the threads: it must not wait for one of them, nor finish what is the
// parent's. Only fork() is seen; who calls clone() itself has none of this.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <brigade/export.h>

namespace brigade {

/// Knows in which process it was made. Any thread; one load.
class BRIGADE_API ForkMark {
 public:
  ForkMark();
  /// Whether this process was forked from the one that made the mark.
  bool in_child() const { return forks_ != forks_so_far.load(std::memory_order_relaxed); }

 private:
  static std::atomic<std::uint32_t> forks_so_far;  // of this process and those it comes from
  std::uint32_t forks_;
};

/// Memory that children may read and not write. Goes before the memory does.
class BRIGADE_API ReadOnlyInChildren {
 public:
  /// Whole pages, inherited by children.
  ReadOnlyInChildren(std::byte* data, std::size_t bytes);
  ReadOnlyInChildren(const ReadOnlyInChildren&) = delete;
  ReadOnlyInChildren& operator=(const ReadOnlyInChildren&) = delete;
  ~ReadOnlyInChildren();
};

/// In a child: what cannot be destroyed there, since it waits for threads that the child lacks.
BRIGADE_API void keep_for_ever(std::shared_ptr<void> object);

}  // namespace brigade
