#pragma once

// The file that a cache is about to fill. It is written as NAME.tmp, all of it allocated before the
// run, and gets its name in one step when everything has been kept; a run that ends before leaves
// no NAME (and no NAME.tmp, unless it is killed; that one the next run takes over). Who writes
// NAME.tmp has a lock on it. One thread at a time.

#include <memory>
#include <string>

#include "base/owned_fd.h"
#include "base/result.h"
#include "stages/api/cache_file.h"

namespace brigade {

class KeptFile {
 public:
  /// Errors name the file: not writable, no room on the disk, another run writes it, or what has
  /// its name is no cache of Brigade.
  static Result<std::unique_ptr<KeptFile>> create(const std::string& path,
                                                  const CacheFileHeader& header);
  /// Removes what has not been published.
  ~KeptFile();

  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }
  bool published() const { return published_; }

  /// Once all rows have been kept: makes them durable, then visible under the name. Once.
  Result<void> publish(std::uint64_t samples);

 private:
  KeptFile(std::string path, CacheFileHeader header)
      : path_(std::move(path)), header_(std::move(header)) {}
  Result<void> open_locked();
  Result<void> allocate();
  Result<void> write_header();
  std::string temporary() const { return path_ + ".tmp"; }

  std::string path_;
  CacheFileHeader header_;
  OwnedFd fd_;
  bool locked_ = false;
  bool published_ = false;
};

/// What a file with a cache's name is.
struct KeptLook {
  enum class Kind : std::uint8_t {
    none,     ///< there is no such file, or an empty one
    usable,   ///< complete; whether of these contents is the caller's question
    broken,   ///< of Brigade, but incomplete or truncated: it may be made anew
    foreign,  ///< something else, or it cannot be read: not to be overwritten
  } kind = Kind::none;
  CacheFileHeader header;  ///< where usable
  std::string problem;     ///< where broken or foreign; to be read after the file's name
};
KeptLook look_at_kept(const std::string& path);

}  // namespace brigade
