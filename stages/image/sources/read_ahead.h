#pragma once

// Asks the kernel to read files while downstream stages process earlier
// ones: a source does so for the files that it lists, and runs ahead of
// its readers by its ring. Only hints: the reader reports failures.
// Data are copied only into the kernel's cache. One thread per object.

#include <cstdint>
#include <string>

namespace brigade {

/// Whole files, by name. Opening one costs microseconds, for nothing where it is in the cache
/// already; so while files are, only every eighth is looked at, and none is left out for a while
/// after one that was not.
class ReadAhead {
 public:
  explicit ReadAhead(bool wanted = true) : wanted_(wanted) {}

  void file(const std::string& path);
  /// How many files have been opened; for tests.
  std::uint64_t opened() const { return opened_; }

 private:
  bool wanted_;
  std::uint64_t calls_ = 0;
  std::uint64_t until_ = 0;  // the call up to which all files are looked at
  std::uint64_t opened_ = 0;
};

/// `size` bytes from `offset` on of an open file; 0 is all that follows.
void read_ahead(int fd, std::uint64_t offset, std::uint64_t size);

}  // namespace brigade
