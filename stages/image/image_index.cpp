#include "stages/image/image_index.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/text.h"

namespace brigade {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtensions[] = {"jpg", "jpeg", "png",  "ppm", "pgm",
                                            "bmp", "tif",  "tiff", "webp"};
// Folders in each other within a class: more means a link that leads back. Less than the 40 links
// that Linux follows, after which they are no folders any more.
constexpr int kDepthMax = 32;

struct Found {
  std::string name;
  bool is_folder = false;
};

/// What lies in a folder, hidden names left out, sorted bytewise.
Result<std::vector<Found>> list_folder(const std::string& folder) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  std::vector<Found> found;
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    std::string name = entries->path().filename().string();
    std::error_code not_there;  // a link to nothing: no folder
    if (!name.starts_with('.'))
      found.push_back({std::move(name), entries->is_directory(not_there)});
  }
  if (error) return Error{concat(folder, ": cannot read the folder: ", error.message())};
  std::sort(found.begin(), found.end(),
            [](const Found& a, const Found& b) { return a.name < b.name; });
  return found;
}

Result<void> add_images(const std::string& root, const std::string& folder, int depth,
                        std::vector<std::string>& paths) {
  if (depth > kDepthMax)
    return Error{concat(root, "/", folder, ": more than ", kDepthMax,
                        " folders in each other; is there a link that leads back?")};
  BRIGADE_ASSIGN(const std::vector<Found> found, list_folder(concat(root, "/", folder)));
  for (const Found& entry : found) {
    std::string path = concat(folder, "/", entry.name);
    if (entry.is_folder) {
      BRIGADE_TRY(add_images(root, path, depth + 1, paths));
    } else if (is_image_name(entry.name)) {
      if (root.size() + 1 + path.size() >= kPathBytesMax)
        return Error{concat(root, "/", path, ": longer than ", kPathBytesMax - 1, " bytes")};
      paths.push_back(std::move(path));
    }
  }
  return {};
}

Error no_classes(const std::string& root, const std::vector<Found>& found) {
  const bool images = std::any_of(found.begin(), found.end(),
                                  [](const Found& entry) { return is_image_name(entry.name); });
  const std::string_view why = found.empty() ? "the folder is empty"
                               : images      ? "has images, but no folders"
                                             : "has no folders";
  return Error{
      concat(root, ": ", why, "; expected a folder of images per class, ", root, "/CLASS/*.jpg")};
}

}  // namespace

bool is_image_name(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos) return false;
  std::string extension(name.substr(dot + 1));
  for (char& character : extension)
    if (character >= 'A' && character <= 'Z') character = static_cast<char>(character + 'a' - 'A');
  return std::find(std::begin(kExtensions), std::end(kExtensions), extension) !=
         std::end(kExtensions);
}

Result<ImageIndex> ImageIndex::scan(const std::string& root) {
  BRIGADE_ASSIGN(const std::vector<Found> found, list_folder(root));
  ImageIndex index;
  for (const Found& entry : found) {
    if (!entry.is_folder) continue;
    std::vector<std::string> paths;
    BRIGADE_TRY(add_images(root, entry.name, 0, paths));
    if (paths.empty())
      return Error{concat(root, "/", entry.name, ": has no images (.", join(kExtensions, " ."),
                          "); every folder there is a class: take it away, or fill it")};
    index.add_class(entry.name, std::move(paths));
  }
  if (index.classes() == 0) return no_classes(root, found);
  return index;
}

void ImageIndex::add_class(const std::string& name, std::vector<std::string> paths) {
  std::sort(paths.begin(), paths.end());
  class_names_.push_back(name);
  class_begins_.push_back(size());
  for (const std::string& path : paths) {
    paths_ += path;
    begins_.push_back(paths_.size());
  }
}

std::int64_t ImageIndex::label(std::uint64_t index) const {
  const auto after = std::upper_bound(class_begins_.begin(), class_begins_.end(), index);
  return after - class_begins_.begin() - 1;
}

}  // namespace brigade
