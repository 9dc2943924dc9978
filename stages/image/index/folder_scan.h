#pragma once

// Scans the folder of one class: its images and those in its subfolders, in
// the order of their paths. The kernel returns the kind with each name, so
// only links need a further call. Any thread; several scans may run at a time.

#include <cstdint>
#include <string>
#include <vector>

#include <brigade/result.h>
#include <brigade/skipped_inputs.h>

namespace brigade {

struct FolderScan {
  /// Images of one folder that follow each other in the order of paths.
  struct Run {
    std::string folder;         ///< relative to the root
    std::size_t names_at = 0;   ///< of the first in `names`
    std::size_t begins_at = 0;  ///< of the first in `begins`
    friend bool operator==(const Run&, const Run&) = default;
  };
  /// A folder that was read, and when it had changed last, in nanoseconds.
  struct Seen {
    std::string folder;
    std::int64_t changed_ns = 0;
  };

  std::string names;                  ///< of the images, back to back
  std::vector<std::uint32_t> begins;  ///< of each, from its run's names_at
  std::vector<Run> runs;
  std::vector<Seen> folders;
  SkipTally skipped;
};

/// A name in a folder; hidden ones are skipped, and counted.
struct FolderEntry {
  std::string name;
  bool is_folder = false;
};

/// What lies in a folder, in the order of the paths below it: a folder's name is compared with a
/// slash at its end. `changed_ns`: of the folder, before it was read.
Result<std::vector<FolderEntry>> list_folder(const std::string& path, std::int64_t& changed_ns,
                                             SkipTally& skipped);

/// Notes a file that is no image: "files that are no images (".txt")".
void skip_file(const std::string& name, SkipTally& skipped);

/// The images of root/name/**.
Result<FolderScan> scan_folder(const std::string& root, const std::string& name);

}  // namespace brigade
