#pragma once

// Opens files whose names other users may know: logs, locks, output files of a user. In a
// folder where any user may create files (/tmp: sticky, writable by group or others), an
// existing file must be ours or the folder owner's, and a written file must have one name: as
// the kernel does with fs.protected_regular, _fifos, _symlinks and _hardlinks, however they
// are set. In other folders permissions decide. Never waits for the other end of a pipe.

#include <cstdint>
#include <string>

#include <brigade/export.h>
#include <brigade/result.h>
#include "base/owned_fd.h"

namespace brigade {

/// What may lie at a path.
enum class Existing : std::uint8_t {
  file,      ///< a regular file; for paths that a program makes up
  anything,  ///< what people name: /dev/null, a pipe that somebody reads, a link of theirs, too
};

/// Opens it, or makes a file of that mode (less the umask). `flags`: O_RDWR or O_WRONLY, O_APPEND.
/// Nothing is truncated. Errors name the path.
BRIGADE_API Result<OwnedFd> open_shared_path(const std::string& path, int flags, unsigned mode,
                                             Existing existing);

/// Opens to append, mode 0644.
BRIGADE_API Result<OwnedFd> open_to_append(const std::string& path, Existing existing);

/// Of an open file with that name that a program believes, as its own: empty, or why it should not,
/// "it belongs to another user (65534), in a folder ...".
BRIGADE_API std::string foreign_owner(const std::string& path, int fd);

/// All of a regular file of our own; a pipe is an error, not a wait. The error names it.
BRIGADE_API Result<std::string> read_whole_file(const std::string& path);

}  // namespace brigade
