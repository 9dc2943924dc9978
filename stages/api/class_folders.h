#pragma once

// A folder of images per class, root/CLASS/**: what is wrong with one, and what a look at names
// alone tells of it before a run. Any thread.

#include <cstdint>
#include <string>
#include <string_view>

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

/// The number of classes, 0 where there may be more than were looked at. It looks at
/// kFolderNamesMax names of the root, and at a few names of each of some hundred folders there; so
/// it passes what only listing all would find. Errors begin with the folder: one that cannot be
/// read, no classes, a class without images.
Result<std::int64_t> count_classes(const std::string& root, const ListFolder& list);

}  // namespace brigade
