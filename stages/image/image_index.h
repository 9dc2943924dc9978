#pragma once

// The images below a folder with one folder per class, in an order that depends on nothing but
// their names: bytewise by class, then by path. A class's number is its place among the sorted
// class folders, so that the same data set has the same labels everywhere.
//
// The index is three flat arrays: all paths in one run of bytes, where each begins, and where each
// class begins. It is a value that does not change once it is made; any thread may read it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace brigade {

inline constexpr std::size_t kPathBytesMax = 4096;  ///< of a whole path, as Linux has it

class ImageIndex {
 public:
  /// Looks through root/CLASS/**. Files count by their extension (is_image_name); names that begin
  /// with a dot are passed over; links are followed. Errors, each beginning with the folder: no
  /// folder, one that cannot be read, no classes, a class without images, a path that is too long.
  static Result<ImageIndex> scan(const std::string& root);

  std::uint64_t size() const { return begins_.size() - 1; }
  /// Relative to the root: "n01440764/x.JPEG".
  std::string_view path(std::uint64_t index) const {
    return std::string_view(paths_).substr(begins_[index], begins_[index + 1] - begins_[index]);
  }
  std::int64_t label(std::uint64_t index) const;

  std::size_t classes() const { return class_names_.size(); }
  const std::string& class_name(std::size_t label) const { return class_names_[label]; }

 private:
  void add_class(const std::string& name, std::vector<std::string> paths);

  std::string paths_;
  std::vector<std::uint64_t> begins_{0};  // of each path in paths_, and the end of the last
  std::vector<std::uint64_t> class_begins_;
  std::vector<std::string> class_names_;
};

/// .jpg .jpeg .png .ppm .pgm .bmp .tif .tiff .webp, in any case.
bool is_image_name(std::string_view name);

}  // namespace brigade
