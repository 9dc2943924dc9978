#pragma once

// A whole file as read-only memory: pages are read on first access, and
// are the system's cache, shared by all processes that map the file.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <brigade/result.h>

namespace boost::interprocess {
class mapped_region;
}

namespace brigade {

class MappedFile {
 public:
  /// Maps a regular file. Errors begin with the path. An empty file has no bytes.
  static Result<MappedFile> open(const std::string& path);
  /// One that is believed, as Brigade's own: not another user's (foreign_owner()).
  static Result<MappedFile> open_own(const std::string& path);

  std::string_view bytes() const;

 private:
  enum class Whose : std::uint8_t { anybodys, ours };
  static Result<MappedFile> open(const std::string& path, Whose whose);

  struct Unmap {
    void operator()(boost::interprocess::mapped_region* region) const;
  };
  std::unique_ptr<boost::interprocess::mapped_region, Unmap> region_;  // null: no bytes
};

}  // namespace brigade
