#pragma once

// The configuration layer's access to the user's files: the kind of
// a path, and the first bytes of a file, unpacked if it is gzip.

#include "pipeline/config/graph/file_metadata_reader.h"

namespace brigade {

class FileMetadataProbe final : public FileMetadataReader {
 public:
  PathKind kind(const std::string& path) override;
  Result<FileHeader> read(const std::string& path) override;
  bool may_execute(const std::string& path) override;
  std::optional<std::string> find_program(const std::string& name) override;
  Result<FolderNames> list(const std::string& path, std::size_t names_max) override;
  std::optional<std::string> descriptor_behind(const std::string& path) override;
  std::optional<PathStamp> stamp(const std::string& path) override { return stamp_of(path); }
};

}  // namespace brigade
