#pragma once

// The names in a folder, up to a limit: used before a run, when
// a folder with a million files must not be read. Plain data.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <brigade/result.h>

namespace brigade {

inline constexpr std::size_t kFolderNamesMax = 32'768;  ///< looked at in one folder before a run

/// In no order, links followed.
struct FolderNames {
  struct Name {
    std::string name;
    bool is_folder = false;
  };
  std::vector<Name> names;
  bool all = false;  ///< no more than these are there
};

/// Looks at no more than `names_max` names of a folder. An error, to be read after its path, where
/// it cannot be read.
using ListFolder =
    std::function<Result<FolderNames>(const std::string& path, std::size_t names_max)>;

}  // namespace brigade
