#pragma once

// The images below a folder with one folder per class, in an order that depends only
// on their names: bytewise by class, then by path. A class's number is its place among
// the sorted class folders, so that the same data set has the same labels everywhere.
//
// In memory and in a file it is the same run of bytes (index_file.h): all file names back to
// back, where each begins, and a table of runs, which are neighbors of one folder. 1.28 million
// images take 24 bytes and their name's length each. Immutable; any thread may read it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <brigade/path_stamp.h>
#include <brigade/result.h>
#include <brigade/stage_contract.h>
#include "stages/api/class_folders.h"
#include "stages/image/index/index_file.h"

namespace brigade {

inline constexpr std::size_t kPathBytesMax = 4096;  ///< of a whole path, as Linux has it

/// A folder's images that follow each other in the order.
struct ImageRun {
  std::uint64_t first;         ///< its first image
  std::uint64_t names_at;      ///< where that image's name begins among the names
  std::uint64_t folder_at;     ///< where the folder's path, from the root, begins among those
  std::uint32_t folder_bytes;  ///< its length
  std::uint32_t label;
};

struct ImageEntry {
  std::string_view folder;  ///< relative to the root: "n01440764"
  std::string_view name;    ///< "x.JPEG"
  std::int64_t label = 0;
};

/// A view of such an index.
class ImageIndex {
 public:
  /// Looks through root/CLASS/**: the bytes of an index. Files count by their extension
  /// (is_image_name); names that begin with a dot are passed over; links are followed. Errors, each
  /// beginning with the folder: no folder, one that cannot be read, no classes, a class without
  /// images, a path that is too long. Folders of classes are read by a few threads at a time: on a
  /// disk that is far away it is waiting that takes long.
  static Result<std::string> scan(const std::string& root);

  /// Whether a look at the folders alone (one stat of each) says that scan(root) would give the
  /// same as when `file` was made. Files that were only rewritten do not matter.
  static bool is_current(const IndexFile& file, const std::string& root) {
    return is_current(file.made_from(), root, stamp_of);
  }
  static bool is_current(std::string_view made_from, const std::string& root, const StampOf& stamp);
  /// What of() will find, by the sections' sizes alone, and what lies beside it.
  static std::optional<SampleCount> size_of(const IndexStart& start);

  ImageIndex() = default;
  /// An error, to be read after the file's name, where the parts do not fit each other.
  static Result<ImageIndex> of(const IndexFile& file);

  std::uint64_t size() const { return begins_.size(); }
  /// An error only in a file that is damaged in spite of its checksum.
  Result<ImageEntry> at(std::uint64_t index) const;
  /// "n01440764/x.JPEG"; empty where at() is an error.
  std::string path(std::uint64_t index) const;

  std::size_t classes() const { return class_ends_.size(); }
  std::string_view class_name(std::size_t label) const;

 private:
  std::string_view names_;
  std::span<const std::uint32_t> begins_;  // of each name, from its run's names_at
  std::span<const ImageRun> runs_;         // and one that stands for the end
  std::string_view folders_;
  std::string_view class_names_;
  std::span<const std::uint32_t> class_ends_;
};

}  // namespace brigade
