#pragma once

// The samples of one tar archive. Any thread; several archives at a time.

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <brigade/result.h>
#include <brigade/skipped_inputs.h>
#include "stages/image/index/class_names.h"
#include "stages/image/index/tar_index.h"
#include "stages/image/index/tar_walk.h"
#include "stages/image/index/unread_keys.h"

namespace brigade {

struct ShardScan {
  std::vector<TarSample> samples;  ///< their keys begin in `keys`
  std::string keys;
  std::vector<std::string> names;  ///< where labels are names without numbers: which a label is
  UnreadKeys unread;
  std::vector<std::vector<TarPlace>> extras;  ///< by extension, then by sample
  SkipTally skipped;
  std::uint64_t bytes = 0;  ///< of the file, before it was read
  std::int64_t changed_ns = 0;
  std::size_t members = 0;  ///< read, those that are no files as well
  bool whole = true;        ///< false: there are more members
};

inline constexpr std::size_t kAllMembers = std::numeric_limits<std::size_t>::max();

/// `classes`: the numbers of the classes, where a file says them. `members_max`: to read; what may
/// go on behind them is left out. Errors begin with the path.
Result<ShardScan> scan_shard(const std::string& path, const TarFields& fields,
                             const ClassNames* classes = nullptr,
                             std::size_t members_max = kAllMembers);

/// The same over bytes that `read` gives; errors do not name the archive.
Result<ShardScan> scan_shard_bytes(TarWalk::Read read, std::uint64_t bytes, const TarFields& fields,
                                   const ClassNames* classes = nullptr,
                                   std::size_t members_max = kAllMembers);

}  // namespace brigade
