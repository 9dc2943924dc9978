#pragma once

// The file that a cache is about to fill. All of it is allocated before the run, without a name
// (base/atomic_file.h), and gets its name in one step when all samples have been cached; a run
// that ends before that leaves no file. The writer holds NAME.lock. One thread at a time.

#include <memory>
#include <optional>
#include <string>

#include <brigade/result.h>
#include "base/atomic_file.h"
#include "base/path_lock.h"
#include "stages/detail/cache_file.h"

namespace brigade {

class CacheFileWriter {
 public:
  /// Errors name the file: not writable, no room on the disk, another run writes it, or what has
  /// its name is no cache of Brigade.
  static Result<std::unique_ptr<CacheFileWriter>> create(const std::string& path,
                                                         const CacheFileHeader& header);

  int fd() const { return file_.fd(); }

  /// Once all slots have been cached: makes them durable, then visible under the name. Once.
  Result<void> publish(std::uint64_t samples);

 private:
  CacheFileWriter(std::string path, CacheFileHeader header, PathLock lock, NewFile file)
      : path_(std::move(path)),
        header_(std::move(header)),
        lock_(std::move(lock)),
        file_(std::move(file)) {}
  Result<void> allocate();
  Result<void> write_header();

  std::string path_;
  CacheFileHeader header_;
  std::optional<PathLock> lock_;  // until it is published
  NewFile file_;
};

/// What a file with a cache's name is.
struct CacheFileLook {
  enum class Kind : std::uint8_t {
    none,     ///< there is no such file, or an empty one
    usable,   ///< complete; whether of these contents is the caller's question
    broken,   ///< of Brigade, but incomplete or truncated: it may be made anew
    foreign,  ///< something else, or it cannot be read: not to be overwritten
  } kind = Kind::none;
  CacheFileHeader header;  ///< where usable
  std::string problem;     ///< where broken or foreign; to be read after the file's name
};
CacheFileLook look_at_cache_file(const std::string& path);

}  // namespace brigade
