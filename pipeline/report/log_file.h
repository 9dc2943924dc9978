#pragma once

// A file that the lines of a run are appended to, each with the time (UTC) and its level in front:
//
//   2026-01-31T23:59:59.123Z warning the message

#include <cstdint>
#include <string>
#include <string_view>

#include <brigade/result.h>
#include "base/log.h"
#include "base/owned_fd.h"

namespace brigade {

struct LogFile {
  std::string path;
  OwnedFd fd;

  /// Makes the file, or appends to it; also to /dev/null, or a pipe that somebody reads.
  static Result<LogFile> open(const std::string& path);
};

/// A line as it stands in the file, with the time of this call, without its end.
std::string logged(LogLevel level, std::string_view message);

/// `seconds` since 1970, `milliseconds` of the second: "2026-01-31T23:59:59.123Z".
std::string utc_text(std::int64_t seconds, int milliseconds);

}  // namespace brigade
