#pragma once

// Files that are not there: what a FileMetadataReader says about them is written down by the test.

#include <map>
#include <string>
#include <utility>

#include "pipeline/config/graph/file_metadata_reader.h"
#include "tests/support/images/idx_files.h"

namespace brigade {

class FakeMetadata : public FileMetadataReader {
 public:
  FakeMetadata() { folders_["/"] = PathKind::folder; }

  /// A file with this header; the folders above it are there too.
  FakeMetadata& file(const std::string& path, std::string header, std::uint64_t file_bytes = 1000,
                     bool is_gzip = false) {
    files_[path] = {std::move(header), file_bytes, is_gzip};
    return kind(path, PathKind::file);
  }
  FakeMetadata& folder(const std::string& path) { return kind(path, PathKind::folder); }
  FakeMetadata& kind(const std::string& path, PathKind what) {
    folders_[path] = what;
    for (std::size_t at = path.rfind('/'); at != 0 && at != path.npos; at = path.rfind('/', at - 1))
      folders_[path.substr(0, at)] = PathKind::folder;
    return *this;
  }
  /// A link that leads to a descriptor of the process.
  FakeMetadata& link(const std::string& path, std::string descriptor) {
    links_[path] = std::move(descriptor);
    return kind(path, PathKind::other);
  }
  /// Reading it fails.
  FakeMetadata& broken(const std::string& path, std::string why) {
    broken_[path] = std::move(why);
    return kind(path, PathKind::file);
  }

  PathKind kind(const std::string& path) override {
    const auto found = folders_.find(path);
    return found == folders_.end() ? PathKind::missing : found->second;
  }
  Result<FileHeader> read(const std::string& path) override {
    ++reads;
    if (const auto broken = broken_.find(path); broken != broken_.end())
      return Error{broken->second};
    const auto found = files_.find(path);
    if (found == files_.end()) return Error{"no such file"};
    return found->second;
  }

  Result<FolderNames> list(const std::string& path, std::size_t) override {
    FolderNames out;
    out.all = lists_all;
    const std::string folder = path.ends_with('/') ? path : path + "/";
    for (const auto& [name, what] : folders_)
      if (name.size() > folder.size() && name.starts_with(folder) &&
          name.find('/', folder.size()) == name.npos)
        out.names.push_back({name.substr(folder.size()), what == PathKind::folder});
    return out;
  }
  std::optional<std::string> descriptor_behind(const std::string& path) override {
    const auto found = links_.find(path);
    return found == links_.end() ? std::nullopt : std::optional(found->second);
  }

  bool lists_all = false;  ///< no more lies in a folder than was said
  int reads = 0;

 private:
  std::map<std::string, PathKind> folders_;
  std::map<std::string, FileHeader> files_;
  std::map<std::string, std::string> broken_;
  std::map<std::string, std::string> links_;
};

/// The files that the golden graphs name.
inline FakeMetadata golden_metadata() {
  FakeMetadata metadata;
  metadata.lists_all = true;
  metadata.folder("/data/photos").folder("/graphs").folder("/home/anna").folder("/tmp");
  metadata.file("/data/train-images.gz", "28 28 1").file("/data/train-labels.gz", "");
  metadata.file("/data/test-images.gz", "28 28 1").file("/data/test-labels.gz", "");
  metadata.file("/data/large-images.gz", "512 512 3").file("/data/text.gz", "hello");
  metadata.file("/data/photos/p-0.tar", "").file("/data/photos/cat/1.jpg", "");
  metadata.link("/data/input", "/proc/self/fd/0");
  metadata.file("/data/a-0.tar", "").file("/data/a-1.tar", "").file("/graphs/b.tar", "");
  metadata.file("/data/w.npy", testing_support::npy_header("<f4", "(1000,)"))
      .file("/data/i.npy", testing_support::npy_header("<i8", "(3, 4)"));
  metadata.file("/data/short.npy", testing_support::npy_header("<f4", "(2000,)"));
  metadata.broken("/data/broken.gz", "damaged gzip data");
  metadata.kind("/data/secret", PathKind::forbidden);
  for (const char* plugin : {"jitter", "again", "count", "twice", "empty", "text"})
    metadata.kind(std::string("/plugins/") + plugin + ".so", PathKind::file);
  return metadata;
}

}  // namespace brigade
