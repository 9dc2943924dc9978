#include "stages/image/index/unread_keys.h"

#include <algorithm>

#include <brigade/text.h>
#include "stages/image/index/image_index.h"

namespace brigade {
namespace {

constexpr std::size_t kExtensionsMax = 4;  // shown; one more is kept, to know that there are more
constexpr std::size_t kKeyKindsMax = 8;
constexpr std::size_t kExtensionBytesMax = 32;
constexpr std::string_view kLabelEnds[] = {"cls", "label", "json", "txt"};

void add_once(std::vector<std::string>& all, std::string_view extension) {
  if (all.size() <= kExtensionsMax && std::find(all.begin(), all.end(), extension) == all.end())
    all.emplace_back(extension);
}

void add_kind(std::vector<UnreadKeys::Kind>& all, const UnreadKeys::Kind& kind) {
  const auto same = std::find_if(all.begin(), all.end(), [&kind](const UnreadKeys::Kind& known) {
    return known.extensions == kind.extensions;
  });
  if (same != all.end()) same->count += kind.count;
  if (same == all.end() && all.size() < kKeyKindsMax) all.push_back(kind);
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

/// As they are shown: quoted where they may hold anything, of many the first.
std::string shown_extensions(const std::vector<std::string>& extensions, std::string_view before) {
  std::vector<std::string> names;
  for (const std::string& extension : extensions)
    names.push_back(is_plain(extension) ? concat(before, extension)
                                        : quote(extension.substr(0, kExtensionBytesMax)));
  const bool more = names.size() > kExtensionsMax;
  names.resize(std::min(names.size(), kExtensionsMax));
  return concat(join(names, ", "), more ? ", ..." : "");
}

/// What makes samples of keys, and of how many.
struct ReadingHelp {
  std::string text;  ///< empty: nothing does
  std::vector<std::string> named;
  std::uint64_t reads = 0;
};

/// Of keys that have all of these extensions.
ReadingHelp reading_help(const UnreadKeys& keys, std::string text,
                         std::vector<std::string> extensions) {
  ReadingHelp help{std::move(text), std::move(extensions), 0};
  std::uint64_t known = 0;
  for (const UnreadKeys::Kind& kind : keys.kinds) {
    known += kind.count;
    const auto has = [&kind](const std::string& one) {
      return std::find(kind.extensions.begin(), kind.extensions.end(), one) !=
             kind.extensions.end();
    };
    if (std::all_of(help.named.begin(), help.named.end(), has)) help.reads += kind.count;
  }
  if (help.reads == 0) return {};
  help.text += help.reads == keys.count ? " reads them"
                                        : concat(" reads ", known < keys.count ? "at least " : "",
                                                 help.reads, " of them");
  return help;
}

/// Nothing where nothing looks like an image, or where they lack the labels that others have.
ReadingHelp find_reading_help(const UnreadKeys& keys, const TarFields& fields) {
  const auto image = std::find_if(
      keys.extensions.begin(), keys.extensions.end(), [](const std::string& extension) {
        return is_plain(extension) && is_image_name(concat("k.", last_of(extension)));
      });
  if (image == keys.extensions.end()) return {};
  std::vector<std::string> images = keys.images;
  images.push_back(*image);
  const std::string parameter = concat("`image: [", join(images, ", "), "]`");
  if (fields.label.empty()) return reading_help(keys, parameter, {*image});
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
    return reading_help(
        keys,
        concat(parameter, ", `label: ", others ? concat(join(fields.label, ";"), ";") : "", *label,
               field ? "`, `label_field: ...`" : "`"),
        {*image, *label});
  }
  return keys.images.empty() ? reading_help(keys, concat(parameter, ", `label: none`"), {*image})
                             : ReadingHelp();
}

}  // namespace

void UnreadKeys::add_key(const std::vector<std::string>& extensions_of_key) {
  ++count;
  add_kind(kinds, {extensions_of_key, 1});
  for (const std::string& extension : extensions_of_key) add_once(extensions, extension);
}

void UnreadKeys::add_image(std::string_view extension) { add_once(images, extension); }

void UnreadKeys::add_members(const std::vector<std::string>& unread) {
  for (const std::string& extension : unread) add_once(members, extension);
}

void UnreadKeys::add(const UnreadKeys& other) {
  count += other.count;
  for (const Kind& kind : other.kinds) add_kind(kinds, kind);
  for (const std::string& extension : other.extensions) add_once(extensions, extension);
  for (const std::string& extension : other.images) add_once(images, extension);
  add_members(other.members);
}

std::string UnreadKeys::text(const TarFields& fields, std::size_t bytes_max) const {
  const std::string what =
      fields.label.empty() ? "keys without an image" : "keys with neither image nor label";
  const std::string seen = concat(what, "; extensions found: ", shown_extensions(extensions, ""));
  const ReadingHelp help = find_reading_help(*this, fields);
  if (help.text.empty()) return seen;
  const std::string all = concat(seen, "; ", help.text);
  if (all.size() <= bytes_max) return all;
  std::vector<std::string> others;
  for (const std::string& extension : extensions)
    if (std::find(help.named.begin(), help.named.end(), extension) == help.named.end())
      others.push_back(extension);
  const std::string less =
      concat(what, "; ", help.text,
             others.empty() ? "" : concat("; also found: ", shown_extensions(others, "")));
  return less.size() <= bytes_max ? less : seen;
}

std::string UnreadKeys::members_text() const {
  if (members.empty()) return "";
  std::vector<std::string> plain = members;
  std::erase_if(plain, [](const std::string& extension) { return !is_plain(extension); });
  plain.resize(std::min(plain.size(), kExtensionsMax));
  return concat(
      "ignores the members ", shown_extensions(members, "."), " of its keys",
      plain.empty() ? "" : concat("; `extra: [", join(plain, ", "), "]` outputs their bytes"));
}

}  // namespace brigade
