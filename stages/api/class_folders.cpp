#include "stages/api/class_folders.h"

#include <algorithm>
#include <iterator>

#include <brigade/text.h>

namespace brigade {
namespace {

constexpr std::string_view kExtensions[] = {"jpg", "jpeg", "png",  "ppm", "pgm",
                                            "bmp", "tif",  "tiff", "webp"};
constexpr std::size_t kClassesLookedInto = 256;
constexpr std::size_t kNamesLookedAt = 64;  // in the folder of a class

bool is_hidden(const FolderNames::Name& entry) { return entry.name.starts_with('.'); }

/// Of a folder and those in it. `names_left`: to look at; no folder is endless, also where a link
/// leads back.
class ImageCount {
 public:
  explicit ImageCount(const ListFolder& list) : list_(list) {}

  bool add(const std::string& path, bool is_class = true) {
    const auto found = list_(path, names_left_);
    if (!found || !found->all || found->names.size() > names_left_) return false;
    names_left_ -= found->names.size();
    for (const FolderNames::Name& entry : found->names) {
      if (is_hidden(entry)) continue;
      if (!entry.is_folder) images_ += is_class && is_image_name(entry.name) ? 1 : 0;
      if (entry.is_folder && !add(concat(path, "/", entry.name))) return false;
    }
    return true;
  }
  std::uint32_t images() const { return images_; }

 private:
  const ListFolder& list_;
  std::size_t names_left_ = kImageNamesCounted;
  std::uint32_t images_ = 0;
};

}  // namespace

bool is_image_name(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos || name.size() - dot > 5) return false;
  char extension[4] = {};
  std::size_t size = 0;
  for (const char character : name.substr(dot + 1))
    extension[size++] =
        character >= 'A' && character <= 'Z' ? static_cast<char>(character + 'a' - 'A') : character;
  return std::find(std::begin(kExtensions), std::end(kExtensions),
                   std::string_view(extension, size)) != std::end(kExtensions);
}

Error no_class_folders(const std::string& root, bool empty, bool images) {
  const std::string_view why = empty    ? "the folder is empty"
                               : images ? "has images, but no class folders"
                                        : "has no class folders";
  return Error{
      concat(root, ": ", why, "; expected one folder of images per class, ", root, "/CLASS/*.jpg")};
}

Error no_images(const std::string& root, const std::string& name) {
  return Error{concat(root, "/", name, ": has no images (.", join(kExtensions, " ."),
                      "); every folder there is a class: delete this folder, or add images to it")};
}

Result<std::vector<std::string>> class_names(const std::string& root, const ListFolder& list) {
  auto found = list(root, kFolderNamesMax);
  if (!found) return found.error().within(root);
  std::erase_if(found->names, is_hidden);
  std::vector<std::string> classes;
  for (const FolderNames::Name& entry : found->names)
    if (entry.is_folder) classes.push_back(entry.name);
  if (found->all && classes.empty())
    return no_class_folders(
        root, found->names.empty(),
        std::any_of(found->names.begin(), found->names.end(),
                    [](const FolderNames::Name& entry) { return is_image_name(entry.name); }));
  std::size_t looked_into = 0;
  for (const FolderNames::Name& entry : found->names) {
    if (!entry.is_folder || ++looked_into > kClassesLookedInto) continue;
    const std::string path = concat(root, "/", entry.name);
    const auto inside = list(path, kNamesLookedAt);
    if (!inside) return inside.error().within(path);
    const auto may_be = [](const FolderNames::Name& name) {
      return !is_hidden(name) && (name.is_folder || is_image_name(name.name));
    };
    if (inside->all && std::none_of(inside->names.begin(), inside->names.end(), may_be))
      return no_images(root, entry.name);
  }
  if (!found->all) return std::vector<std::string>();
  std::sort(classes.begin(), classes.end());
  return classes;
}

std::optional<std::uint32_t> count_images(const std::string& root, const ListFolder& list) {
  ImageCount count(list);
  return count.add(root, false) ? std::optional(count.images()) : std::nullopt;
}

std::string class_list(const std::vector<std::string>& names) {
  constexpr std::size_t kNamesShown = 12;
  std::vector<std::string> shown(names.begin(),
                                 names.begin() + std::min(names.size(), kNamesShown));
  return concat(join(shown, ", "), names.size() > kNamesShown ? ", ..." : "");
}

std::string class_difference(const std::vector<std::string>& names,
                             const std::vector<std::string>& other) {
  std::vector<std::string> lacks;
  std::vector<std::string> alone;
  std::set_difference(names.begin(), names.end(), other.begin(), other.end(),
                      std::back_inserter(lacks));
  std::set_difference(other.begin(), other.end(), names.begin(), names.end(),
                      std::back_inserter(alone));
  return concat(lacks.empty() ? "" : concat("missing: ", class_list(lacks)),
                lacks.empty() || alone.empty() ? "" : ", and ",
                alone.empty() ? "" : concat("extra: ", class_list(alone)));
}

}  // namespace brigade
