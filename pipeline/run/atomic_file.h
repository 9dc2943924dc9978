#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace brigade {

/// Replaces a file: whoever opens `path`, also after a crash or power cut, finds the old bytes or
/// the new ones, never a part. Writes `path`.tmp in the same folder, syncs it, renames it and syncs
/// the folder. After an error (disk full, no permission) the old file is intact and the temporary
/// one gone. One writer at a time.
Result<void> write_file_atomically(const std::string& path, std::string_view bytes);

/// Its first and its second half: writes and syncs `path`.tmp; renames it and syncs the folder.
Result<void> write_temporary(const std::string& path, std::string_view bytes);
Result<void> publish_temporary(const std::string& path);

/// Whether write_file_atomically(path) can be expected to work: its folder is there and writable.
Result<void> check_writable(const std::string& path);

}  // namespace brigade
