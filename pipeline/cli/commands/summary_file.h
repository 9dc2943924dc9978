#pragma once

// The output of `run --summary`: a file that is replaced atomically at the end
// (base/atomic_file.h); directly for a path that is not a file (/dev/null, a pipe, a link);
// "-": standard output. Opened before the run, so that a missing folder is reported early.

#include <optional>
#include <string>
#include <string_view>

#include <brigade/result.h>
#include "base/atomic_file.h"
#include "base/owned_fd.h"

namespace brigade {

class SummaryFile {
 public:
  /// Empty: nothing is written.
  static Result<SummaryFile> open(const std::string& path);
  Result<void> write(std::string_view json);

 private:
  std::string path_;
  std::optional<NewFile> file_;
  OwnedFd other_;
};

}  // namespace brigade
