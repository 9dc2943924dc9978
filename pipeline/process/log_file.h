#pragma once

// A file that lines are appended to, each with the time (UTC) and its level in front:
//
//   2026-01-31T23:59:59.123Z warning the message
//
// Every line is one write(2), so that a run that is killed leaves whole lines. Any thread.

#include <string>
#include <string_view>

#include "base/log.h"
#include "base/owned_fd.h"
#include "base/result.h"

namespace brigade {

class LogFile {
 public:
  /// Makes the file, or appends to it; also to /dev/null, or a pipe that somebody reads.
  static Result<LogFile> open(const std::string& path);

  void write(LogLevel level, std::string_view message);

 private:
  OwnedFd fd_;
};

/// `seconds` since 1970, `milliseconds` of the second: "2026-01-31T23:59:59.123Z".
std::string utc_text(std::int64_t seconds, int milliseconds);

}  // namespace brigade
