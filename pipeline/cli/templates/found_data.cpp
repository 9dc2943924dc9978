#include "pipeline/cli/templates/found_data.h"

#include <brigade/text.h>
#include "pipeline/cli/templates/template_text.h"
#include "stages/api/class_folders.h"

namespace brigade {
namespace {

std::string classes_of(std::size_t count, const std::vector<std::string>& names) {
  return concat(" of ", count, count == 1 ? " class" : " classes",
                names.empty() ? "" : concat(" (", class_list(names), ")"));
}

/// Of what is listed; what it is not trained on is not evaluated either.
std::string test_text(const FoundData& data) {
  const bool counted = data.class_count > 0;
  const std::string classes = counted ? classes_of(data.class_count, data.classes) : "";
  if (data.test.empty()) return classes;
  return concat(classes, counted ? "; for evaluation: " : "; not used: ", data.test);
}

}  // namespace

std::vector<std::string_view> types_for(FoundData::Kind kind) {
  switch (kind) {
    case FoundData::Kind::nothing:
      return {"synthetic"};
    case FoundData::Kind::idx:
      return {"idx_images", "augment_image"};
    case FoundData::Kind::classes:
      return {"image_folder", "decode_image"};
    case FoundData::Kind::shards:
      return {"tar_shards", "decode_image"};
    case FoundData::Kind::list:
      return {"image_list", "decode_image"};
    case FoundData::Kind::numbers:
      return {"csv"};
  }
  return {};
}

std::string unwritable(const FoundData& data) {
  std::vector<std::string_view> names{data.folder,      data.images, data.labels, data.test_images,
                                      data.test_labels, data.train,  data.test,   data.image,
                                      data.label,       data.table,  data.root};
  names.insert(names.end(), data.features.begin(), data.features.end());
  for (const std::string_view name : names)
    if (!is_utf8(name))
      return concat("the name ", quote(name), " is not UTF-8, which YAML requires; rename it");
  for (const std::string& name : {data.folder, data.train})
    if (data.kind == FoundData::Kind::shards && name.find('{') != name.npos)
      return concat("the name ", quote(name),
                    " contains {, which begins a list of names in `shards:`; rename it");
  return "";
}

std::string found_text(const FoundData& data) {
  const std::string label = data.label.empty() ? ", no labels" : concat(", labels: ", data.label);
  switch (data.kind) {
    case FoundData::Kind::idx:
      return concat("IDX files (", data.images, data.labels.empty() ? "" : ", ", data.labels, ")");
    case FoundData::Kind::classes:
      return concat("images", classes_of(data.classes.size(), data.classes), " in ",
                    data.train.empty() ? data.folder : concat(data.folder, "/", data.train),
                    data.test.empty() ? "" : concat("; for evaluation: ", data.test));
    case FoundData::Kind::shards:
      return concat("tar archives (", data.train, label, ")", test_text(data));
    case FoundData::Kind::list:
      return concat("a list of images (", data.table, ": column ", data.image, label, ")",
                    test_text(data));
    case FoundData::Kind::numbers:
      return concat("a table of numbers (", data.table, ": ", data.features.size(), " columns",
                    label, ")");
    case FoundData::Kind::nothing:
      break;
  }
  return "nothing";
}

}  // namespace brigade
