#pragma once

// Files that are there whole or not at all. Whoever opens `path`, also after a crash or a power
// cut, finds the old bytes or the new ones, never a part: they are written to `path`.tmp in the
// same folder and synced, then it is renamed and the folder synced. After an error (disk full, no
// permission) the old file is intact and the temporary one gone. Errors are one line with the path.
// One writer of a path at a time; where there may be several, each holds a lock on `path`.tmp.

#include <string>
#include <string_view>

#include "base/result.h"

namespace brigade {

/// Replaces the file, or makes it.
Result<void> write_file_atomically(const std::string& path, std::string_view bytes);

/// Its two halves: writes and syncs `path`.tmp; renames it and syncs the folder.
Result<void> write_temporary(const std::string& path, std::string_view bytes);
Result<void> publish_temporary(const std::string& path);

/// Whether write_file_atomically(path) can be expected to work: its folder is there and writable.
Result<void> check_writable(const std::string& path);

}  // namespace brigade
