#pragma once

// The status of a path without reading its contents: it shows whether a
// file, or the list of files in a folder, may have changed. Any thread.

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <brigade/export.h>

namespace brigade {

struct PathStamp {
  std::uint64_t bytes = 0;
  std::int64_t changed_ns = 0;  ///< since 1970
};

/// Stamp of a path, following links; nothing if the path does not exist.
using StampOf = std::function<std::optional<PathStamp>(const std::string& path)>;

/// Reads it from the system.
BRIGADE_API std::optional<PathStamp> stamp_of(const std::string& path);

inline std::int64_t changed_ns(const struct stat& status) {
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

}  // namespace brigade
