#pragma once

// Where `run --summary` writes: a file, whole at the end or not at all (base/atomic_file.h); what
// is there and is no file (/dev/null, a pipe, a link of the user's), as it is; "-": standard
// output. Opened before the run: hours of work are a bad moment to learn that a folder is missing.

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
