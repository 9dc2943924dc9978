#include "stages/image/index/folder_scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>

#include <brigade/text.h>
#include "base/io.h"
#include "stages/image/index/image_index.h"
#include "stages/image/index/made_from.h"

namespace brigade {
namespace {

// Folders in each other within a class: more means a link that leads back. Less than the 40 links
// that Linux follows, after which they are no folders any more.
constexpr int kDepthMax = 32;

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};
using OpenFolder = std::unique_ptr<DIR, CloseFolder>;

Error cannot_read(const std::string& path, int cause) {
  return error_of_errno(concat(path, ": cannot read the folder"), cause);
}

/// Of a link to nothing: no folder.
bool leads_to_folder(int folder, const char* name) {
  struct stat status {};
  return fstatat(folder, name, &status, 0) == 0 && S_ISDIR(status.st_mode);
}

bool comes_before(const FolderEntry& a, const FolderEntry& b) {
  const std::size_t common = std::min(a.name.size(), b.name.size());
  const int order = std::memcmp(a.name.data(), b.name.data(), common);
  if (order != 0) return order < 0;
  const auto next = [common](const FolderEntry& entry) {
    if (entry.name.size() > common)
      return static_cast<int>(static_cast<unsigned char>(entry.name[common]));
    return entry.is_folder ? int{'/'} : -1;
  };
  return next(a) < next(b);
}

class Scan {
 public:
  explicit Scan(const std::string& root) : root_(root) {}

  Result<void> look(const std::string& folder, int depth) {
    const std::string path = concat(root_, "/", folder);
    if (depth > kDepthMax)
      return Error{concat(path, ": more than ", kDepthMax,
                          " nested folders; check for a link that forms a loop")};
    std::int64_t changed_ns = 0;
    BRIGADE_ASSIGN(const std::vector<FolderEntry> entries,
                   list_folder(path, changed_ns, out_.skipped));
    out_.folders.push_back({folder, changed_ns});
    bool in_run = false;
    for (const FolderEntry& entry : entries) {
      if (entry.is_folder) {
        in_run = false;
        BRIGADE_TRY(look(concat(folder, "/", entry.name), depth + 1));
        continue;
      }
      if (!is_image_name(entry.name)) {
        skip_file(entry.name, out_.skipped);
        continue;
      }
      if (path.size() + 1 + entry.name.size() >= kPathBytesMax)
        return Error{concat(path, "/", entry.name, ": longer than ", kPathBytesMax - 1, " bytes")};
      if (!in_run) out_.runs.push_back({folder, out_.names.size(), out_.begins.size()});
      in_run = true;
      const std::size_t begin = out_.names.size() - out_.runs.back().names_at;
      if (begin > std::numeric_limits<std::uint32_t>::max())
        return Error{concat(path, ": has too many images for one folder")};
      out_.begins.push_back(static_cast<std::uint32_t>(begin));
      out_.names += entry.name;
    }
    return {};
  }

  FolderScan take() { return std::move(out_); }

 private:
  const std::string& root_;
  FolderScan out_;
};

}  // namespace

void skip_file(const std::string& name, SkipTally& skipped) {
  const std::size_t dot = name.rfind('.');
  skipped.add(SkipReason::no_match, "files that are not images",
              dot == name.npos ? name : name.substr(dot));
}

Result<std::vector<FolderEntry>> list_folder(const std::string& path, std::int64_t& changed,
                                             SkipTally& skipped) {
  const OpenFolder folder(opendir(path.c_str()));
  struct stat status {};
  if (folder == nullptr || fstat(dirfd(folder.get()), &status) != 0)
    return cannot_read(path, errno);
  changed = changed_ns(status);
  std::vector<FolderEntry> entries;
  for (;;) {
    errno = 0;
    const dirent* const entry = readdir(folder.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name.starts_with('.')) {
      if (name != "." && name != "..") skipped.add(SkipReason::hidden, "hidden files and folders");
      continue;
    }
    bool is_folder = entry->d_type == DT_DIR;
    if (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN)
      is_folder = leads_to_folder(dirfd(folder.get()), entry->d_name);
    entries.push_back({entry->d_name, is_folder});
  }
  if (errno != 0) return cannot_read(path, errno);
  std::sort(entries.begin(), entries.end(), comes_before);
  return entries;
}

Result<FolderScan> scan_folder(const std::string& root, const std::string& name) {
  Scan scan(root);
  BRIGADE_TRY(scan.look(name, 0));
  return scan.take();
}

}  // namespace brigade
