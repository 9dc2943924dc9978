#pragma once

// Tells objects of a program that may fork, as interpreters do, whether they are in
// a child. The child has a copy of every object but no threads: it must not wait for
// one, nor finish the parent's work. Only fork() is detected, not a direct clone().

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
