#pragma once

// The two files of a checkpoint: the state of a stage, byte for byte (so that its own
// tools can read it), and beside it the position of its run (pipeline/state/position.h).
// Both are replaced atomically. A reader, also after a crash or a power cut between the
// two, finds a state and a position that belong together: the new position is written
// first, beside the old one, and each names the bytes it belongs to by their digest.

#include <string>
#include <string_view>

#include <brigade/result.h>
#include "pipeline/state/position.h"

namespace brigade {

/// "57 bytes, xxh3 0011223344556677".
std::string digest_of(std::string_view bytes);

/// The JSON of a file of positions, whose last key is the digest of all before it.
std::string position_to_bytes(const PositionFile& file);
/// Error: what is wrong with the bytes, in one line.
Result<PositionFile> position_from_bytes(std::string_view bytes);

/// Replaces both. `file.entries` is the new position; the one that belongs to what is there now is
/// kept until it is replaced. `saved_file`: empty where nothing is saved. One writer at a time.
Result<void> write_checkpoint(const std::string& saved_file, std::string_view saved,
                              const std::string& position_file, PositionFile file);

/// What is there, reduced to the entry that belongs to the saved bytes. Errors name the file and
/// say what to do; an empty list of entries: there is no checkpoint yet.
Result<PositionFile> read_checkpoint(const std::string& saved_file,
                                     const std::string& position_file);

}  // namespace brigade
