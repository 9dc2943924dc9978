#pragma once

// Files that are replaced atomically. A process that opens the path, also after a crash or a power
// cut, finds the old bytes or the new ones, never a part. The new ones are written to a file that
// has no name (O_TMPFILE), which no other process can open and no crash leaves behind, and get the
// name in one step. On a file system without such files, the new one has a random name until then.
// In either case this call creates it, it is ours, and has mode 0644 less the umask: what another
// user has planted at the path (a link, a pipe, a file) is replaced, never written into. After an
// error (disk full, no permission) the old file is intact. Errors are one line with the path.
// Several writers of a path are safe; to allow only one, see base/path_lock.h.

#include <string>
#include <string_view>

#include <brigade/export.h>
#include <brigade/result.h>
#include "base/owned_fd.h"

namespace brigade {

/// A file on its way: create (write | sync)* publish?. Gone with its owner unless published.
class BRIGADE_API NewFile {
 public:
  /// In the folder of `path`, open for reading and writing.
  static Result<NewFile> create(const std::string& path);
  /// The second way of create(), for tests: it works on every file system.
  static Result<NewFile> create_with_random_name(const std::string& path);
  NewFile(NewFile&& other) noexcept = default;
  NewFile& operator=(NewFile&& other) = delete;
  ~NewFile();

  int fd() const { return file_.get(); }

  /// Appends.
  Result<void> write(std::string_view bytes);
  /// What was written is on the disk.
  Result<void> sync();
  /// Syncs, gives it the name, which may be another file's until now, and syncs the folder.
  Result<void> publish();

 private:
  NewFile(std::string path, OwnedFd folder) : path_(std::move(path)), folder_(std::move(folder)) {}
  static Result<NewFile> in_folder_of(const std::string& path);
  Result<void> open_with_random_name();
  bool link_as(const std::string& name);
  bool rename_to(const std::string& name);
  Error failed() const;

  std::string path_;
  OwnedFd folder_;
  OwnedFd file_;
  std::string random_name_;  // in the folder; empty while it has none
  std::size_t bytes_ = 0;
};

/// Replaces the file, or makes it.
BRIGADE_API Result<void> write_file_atomically(const std::string& path, std::string_view bytes);

/// Whether write_file_atomically(path) can be expected to work: its folder is there and writable.
BRIGADE_API Result<void> check_writable(const std::string& path);

}  // namespace brigade
