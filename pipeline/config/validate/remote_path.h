#pragma once

// The error for a path that names remote data: paths of data must be on this machine.

#include <optional>
#include <string>
#include <string_view>

namespace brigade {

/// "copy the files first (`curl -fO`) or mount what holds them, and write the path", of an URL or
/// a `pipe:`; nothing where it is a path.
std::optional<std::string> help_of_remote(std::string_view text);

}  // namespace brigade
