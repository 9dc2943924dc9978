#pragma once

// A folder of images per class, root/CLASS/**: its mistakes, and
// the facts that its names alone show before a run. Any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/export.h>
#include <brigade/result.h>
#include "stages/api/folder_names.h"

namespace brigade {

/// The producer that reads one, and its parameter.
inline constexpr std::string_view kClassFolderType = "image_folder";
inline constexpr std::string_view kClassFolderParam = "root";

/// .jpg .jpeg .png .ppm .pgm .bmp .tif .tiff .webp, in any case.
BRIGADE_API bool is_image_name(std::string_view name);

/// Of a root without folders: whether there is anything, and images.
Error no_class_folders(const std::string& root, bool empty, bool images);
/// Of a class.
Error no_images(const std::string& root, const std::string& name);

/// The names of the classes in the order of their labels; none where there may be more than were
/// looked at. It looks at kFolderNamesMax names of the root, and at a few names of each of some
/// hundred folders there; so it passes what only listing all would find. Errors begin with the
/// folder: one that cannot be read, no classes, a class without images.
Result<std::vector<std::string>> class_names(const std::string& root, const ListFolder& list);

/// How many images the folders of classes have, those of folders in them as well. Nothing where
/// more names than kImageNamesCounted would have to be looked at, or a folder cannot be read.
std::optional<std::uint32_t> count_images(const std::string& root, const ListFolder& list);

inline constexpr std::uint32_t kImageNamesCounted = 4096;  ///< of folders as well, before a run

/// "cat, dog"; of many the first.
BRIGADE_API std::string class_list(const std::vector<std::string>& names);

/// What sets the classes of `other` apart from these, both sorted: "it lacks dog, and it alone has
/// wolf". Empty: nothing does.
std::string class_difference(const std::vector<std::string>& names,
                             const std::vector<std::string>& other);

}  // namespace brigade
