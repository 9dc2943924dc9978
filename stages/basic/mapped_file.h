#pragma once

// A whole file as read-only memory: nothing is read before it is looked at, and the pages are the
// system's cache, shared by all processes that map the file.

#include <string>
#include <string_view>

#include <brigade/result.h>
#include "base/mapping.h"

namespace brigade {

class MappedFile {
 public:
  /// Maps a regular file. Errors begin with the path. An empty file has no bytes.
  static Result<MappedFile> open(const std::string& path);

  std::string_view bytes() const {
    return {reinterpret_cast<const char*>(mapping_.data()), mapping_.bytes()};
  }

 private:
  Mapping mapping_;
};

}  // namespace brigade
