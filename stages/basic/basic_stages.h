#pragma once

// Stage types that need no library: sources of plain arrays and tables, sources and sinks for
// trying out graphs, and stages that fail on purpose for testing them. One function per type, one
// file per function; the list is at the end.

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

/// All of them, in the order in which `brigade stages` lists them.
inline void add_basic_stages(StageTypes& types) {
  add_synthetic(types);
  add_npy(types);
  add_csv(types);
  add_lines(types);
  add_passthrough(types);
  add_repack(types);
  add_merge(types);
  add_repeat(types);
  add_cache(types);
  add_cached(types);
  add_delay(types);
  add_count(types);
  add_application(types);
}

}  // namespace brigade
