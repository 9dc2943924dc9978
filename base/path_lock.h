#pragma once

// The right to write a path, for one holder at a time among all processes of the
// machine: a lock (flock) on the empty file PATH.lock beside it, which ends with its
// holder. The file that a killed holder leaves does not block the next one, which takes
// it over. Only its owner and the superuser may open it, so no other user can hold it.

#include <optional>
#include <string>

#include <brigade/export.h>
#include <brigade/result.h>
#include "base/owned_fd.h"

namespace brigade {

class BRIGADE_API PathLock {
 public:
  /// Waits for its turn.
  static Result<PathLock> wait(const std::string& path);
  /// Nothing while somebody else holds it.
  static Result<std::optional<PathLock>> try_now(const std::string& path);
  PathLock(PathLock&&) noexcept = default;
  PathLock& operator=(PathLock&&) = delete;
  ~PathLock();

 private:
  PathLock(std::string file, OwnedFd fd) : file_(std::move(file)), fd_(std::move(fd)) {}

  std::string file_;
  OwnedFd fd_;
};

}  // namespace brigade
