#pragma once

// Stage types that need no library: sources of plain arrays and tables, sources and sinks for
// trying out graphs, and stages that fail on purpose for testing them. One function per type, one
// file per function; stages/builtin.cpp calls them all.

#include <brigade/stage_types.h>

namespace brigade {

void add_synthetic(StageTypes& types);    ///< producer of made-up tensors
void add_npy(StageTypes& types);          ///< producer of the slots of NumPy arrays
void add_csv(StageTypes& types);          ///< producer of the columns of a text table
void add_lines(StageTypes& types);        ///< producer of lines of text as they come: a stream
void add_passthrough(StageTypes& types);  ///< transform that changes nothing
void add_repeat(StageTypes& types);       ///< transform that gives each sample several times
void add_cache(StageTypes& types);        ///< transform that keeps what it reads for all epochs
void add_cached(StageTypes& types);       ///< producer of what a cache has written to a file
void add_repack(StageTypes& types);       ///< transform that closes the gaps filters leave
void add_merge(StageTypes& types);        ///< transform that makes one source of several
void add_delay(StageTypes& types);        ///< transform that sleeps, crashes or fails where told
void add_count(StageTypes& types);        ///< consumer that counts and checksums
void add_application(StageTypes& types);  ///< consumer that is a program's own

}  // namespace brigade
