#pragma once

// The configuration layer's only access to the user's data: does this path exist,
// and what are the first bytes of this file? Contracts never open files themselves.
// The real implementation is pipeline/config/graph/file_metadata; tests pass a fake.
// Called from the thread that loads the graph, at most once per path and question.

#include <optional>
#include <string>

#include <brigade/result.h>
#include <brigade/types.h>
#include "stages/api/folder_names.h"

namespace brigade {

/// What lies at a path, symbolic links followed.
enum class PathKind : std::uint8_t {
  missing,
  file,
  folder,
  other,     ///< a device, a pipe, a socket
  forbidden  ///< it cannot be looked at: a folder above it may not be entered
};

class FileMetadataReader {
 public:
  virtual ~FileMetadataReader() = default;

  /// What lies at an absolute path.
  virtual PathKind kind(const std::string& path) = 0;

  /// At most kMetadataBytesMax bytes of the file's beginning, after gunzip where it starts with
  /// gzip's magic number, and its size on disk. An error names what failed ("permission denied",
  /// "damaged gzip data"), without the path.
  virtual Result<FileHeader> read(const std::string& path) = 0;

  /// Whether the user may execute the file at an absolute path.
  virtual bool may_execute(const std::string& path) { return kind(path) == PathKind::file; }
  /// The absolute path of a program, by its name alone, as PATH has it.
  virtual std::optional<std::string> find_program(const std::string&) { return std::nullopt; }

  /// Of what a ListFolder asks; nobody knows how much more there is where it is not looked at.
  virtual Result<FolderNames> list(const std::string&, std::size_t) { return FolderNames(); }

  /// The descriptor of this process, such as /proc/self/fd/0, that a link at an absolute path leads
  /// to, by whatever other links; nothing where it does not.
  virtual std::optional<std::string> descriptor_behind(const std::string&) { return std::nullopt; }

  /// Size and time of change of what lies at an absolute path.
  virtual std::optional<PathStamp> stamp(const std::string&) { return std::nullopt; }
};

}  // namespace brigade
