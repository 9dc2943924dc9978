#include <brigade/path_stamp.h>

namespace brigade {

std::optional<PathStamp> stamp_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return PathStamp{static_cast<std::uint64_t>(status.st_size), changed_ns(status)};
}

}  // namespace brigade
