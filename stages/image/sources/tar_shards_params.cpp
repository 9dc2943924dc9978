#include "stages/image/sources/tar_shards_params.h"

#include <algorithm>

#include <brigade/text.h>
#include "stages/image/index/class_names.h"
#include "stages/image/index/json_field.h"

namespace brigade {
namespace {

constexpr std::string_view kNoLabel = "none";

/// "jpg;png" is several, as in WebDataset.
Result<void> add_extensions(std::string_view text, std::vector<std::string>& out) {
  for (const std::string_view extension : split(text, ';')) {
    out.push_back(extension_of(trim(extension)));
    if (out.back().empty())
      return Error{
          concat("empty extension in ", quote(text), "; expected extensions such as jpg;png")};
  }
  return {};
}

Result<void> add_labels(std::string_view text, std::vector<std::string>& out) {
  if (trim(text).empty() || trim(text) == kNoLabel) return {};
  BRIGADE_TRY(add_extensions(text, out));
  if (std::find(out.begin(), out.end(), kNoLabel) == out.end()) return {};
  return Error{
      concat("`none` means no labels and cannot be combined with extensions, found ", quote(text))};
}

}  // namespace

std::string extension_of(std::string_view text) {
  while (text.starts_with('.')) text.remove_prefix(1);
  return split_tar_name(concat("k.", text)).extension;
}

Result<TarFields> tar_fields_of(const TarShardsParams& params) {
  TarFields fields;
  for (const std::string& one : params.image)
    if (auto added = add_extensions(one, fields.image); !added)
      return added.error().within("image");
  for (const std::string& extension : params.extra) fields.extra.push_back(extension_of(extension));
  if (auto added = add_labels(params.label, fields.label); !added)
    return added.error().within("label");
  fields.label_field = params.label_field;
  fields.classes = params.classes.path;
  fields.names = params.labels == TarLabels::names || !fields.classes.empty();
  if (fields.image.empty() || fields.image.size() > 255)
    return Error{"image must be a list of extensions such as [jpg, png], found an empty list"};
  const bool json = std::any_of(fields.label.begin(), fields.label.end(), is_json_name);
  if (fields.label_field.empty() && json)
    return Error{concat("a JSON member needs the field with the label; set ",
                        "`label_field:`, for example `label_field: label`")};
  if (fields.label.empty() && !fields.label_field.empty())
    return Error{"label_field has no effect with `label: none`; omit it"};
  if (!fields.label_field.empty() && !json)
    return Error{concat(
        "label_field needs a JSON member, but no extension in `label: ", join(fields.label, ";"),
        "` ends in json; omit label_field, or write `label: json`")};
  if (fields.label.empty() && fields.names)
    return Error{"labels and classes have no effect with `label: none`; omit them"};
  return fields;
}

Result<std::int64_t> label_number(std::string_view text, std::string_view extension,
                                  const TarFields& fields) {
  const bool json = is_json_name(extension);
  auto label = json ? json_integer(text, fields.label_field) : parse_label(text);
  if (label) return label;
  const bool is_name =
      json ? json_text(text, fields.label_field).ok() : parse_class_name(text).ok();
  return Error{
      concat(label.error().message, is_name ? "; write `labels: names` if labels are names" : "")};
}

}  // namespace brigade
