#pragma once

// The CSV file with the loss of every training step. A resumed run removes
// the lines that were written after its checkpoint. One thread at a time.

#include <cstdint>
#include <string>
#include <string_view>

#include <brigade/result.h>
#include "base/owned_fd.h"

namespace brigade {

class LossFile {
 public:
  /// No path: there is none, and nothing is written. `kept`: bytes that were in it at the
  /// checkpoint that a run goes on from; 0 begins it anew, with its header.
  Result<void> open(const std::string& path, std::uint64_t kept);
  bool is_open() const { return file_.get() >= 0; }
  /// Written by the next write().
  void add(std::string_view line);
  Result<void> write();
  /// Of the file, with lines that are not written yet.
  std::uint64_t bytes() const { return is_open() ? bytes_ : 0; }

 private:
  OwnedFd file_;
  std::string path_;
  std::string lines_;  // that are not in it yet
  std::uint64_t bytes_ = 0;
};

}  // namespace brigade
