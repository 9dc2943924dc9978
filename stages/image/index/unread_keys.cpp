#include "stages/image/index/unread_keys.h"

#include <algorithm>

#include <brigade/text.h>
#include "stages/image/index/image_index.h"

namespace brigade {
namespace {

constexpr std::size_t kExtensionsMax = 4;
constexpr std::size_t kExtensionBytesMax = 32;
constexpr std::string_view kLabelEnds[] = {"cls", "label", "json", "txt"};

void add_once(std::vector<std::string>& all, std::string_view extension) {
  if (all.size() < kExtensionsMax && std::find(all.begin(), all.end(), extension) == all.end())
    all.emplace_back(extension);
}

/// Whether it may be written as it is, in YAML and in a list of extensions.
bool is_plain(std::string_view extension) {
  return extension.size() <= kExtensionBytesMax &&
         std::all_of(extension.begin(), extension.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
                  c == '-';
         });
}

std::string_view last_of(std::string_view extension) {
  return extension.substr(extension.rfind('.') + 1);  // all of it where there is no dot
}

/// What would read them; empty where nothing looks like an image, or where they lack the labels
/// that others have.
std::string help(const UnreadKeys& keys, const TarFields& fields) {
  const auto image = std::find_if(
      keys.extensions.begin(), keys.extensions.end(), [](const std::string& extension) {
        return is_plain(extension) && is_image_name(concat("k.", last_of(extension)));
      });
  if (image == keys.extensions.end()) return "";
  std::vector<std::string> images = keys.images;
  images.push_back(*image);
  const std::string parameter = concat("`image: [", join(images, ", "), "]`");
  if (fields.label.empty()) return concat(parameter, " reads them");
  const auto found = [&keys](std::string_view end) {
    return std::find_if(
        keys.extensions.begin(), keys.extensions.end(),
        [end](const std::string& one) { return is_plain(one) && last_of(one) == end; });
  };
  for (const std::string_view end : kLabelEnds) {
    const auto label = found(end);
    if (label == keys.extensions.end()) continue;
    const bool others = !keys.images.empty();
    const bool field = is_json_name(*label) && fields.label_field.empty();
    return concat(parameter, ", `label: ", others ? concat(join(fields.label, ";"), ";") : "",
                  *label, field ? "`, `label_field: ...` reads them" : "` reads them");
  }
  return keys.images.empty() ? concat(parameter, ", `label: none` reads them") : "";
}

}  // namespace

void UnreadKeys::add_key(const std::vector<std::string>& members) {
  ++count;
  for (const std::string& extension : members) add_once(extensions, extension);
}

void UnreadKeys::add_image(std::string_view extension) { add_once(images, extension); }

void UnreadKeys::add(const UnreadKeys& other) {
  count += other.count;
  for (const std::string& extension : other.extensions) add_once(extensions, extension);
  for (const std::string& extension : other.images) add_once(images, extension);
}

std::string UnreadKeys::text(const TarFields& fields, std::size_t bytes_max) const {
  const std::string what =
      fields.label.empty() ? "keys without an image" : "keys with neither image nor label";
  std::vector<std::string> names;
  for (const std::string& extension : extensions)
    names.push_back(is_plain(extension) ? extension
                                        : quote(extension.substr(0, kExtensionBytesMax)));
  const std::string seen = concat(what, "; extensions seen: ", join(names, ", "));
  const std::string how = help(*this, fields);
  if (how.empty()) return seen;
  const std::string all = concat(seen, "; ", how);
  const std::string less = concat(what, "; ", how);
  if (all.size() <= bytes_max) return all;
  return less.size() <= bytes_max ? less : seen;
}

}  // namespace brigade
