#include "pipeline/config/language/shared_parser.h"

#include <optional>
#include <utility>

#include <brigade/text.h>
#include "pipeline/config/language/tensors_parser.h"

namespace brigade {

namespace {

/// A size that differs has no place here, and a file of one number is a list of one.
bool has_one_shape(const YamlEntry& entry, const TensorType& type, SpecReader& read) {
  if (!type.ragged() && !type.shape.empty()) return true;
  read.error(entry.value.find("shape")->value.span,
             concat("`shared`: ", entry.key, ": `shape`: ",
                    type.shape.empty() ? "it has no dimension" : "a size has an upper bound"),
             {"it is the shape of the whole tensor, such as [1000, 10]; [1] is a single number"});
  return false;
}

std::optional<SharedSpec> parse_one(const YamlEntry& entry, SpecReader& read) {
  SharedSpec shared;
  shared.name = {entry.key, entry.key_span};
  YamlEntry tensor{entry.key, entry.key_span, entry.value};
  tensor.value.entries.clear();
  read.each(entry.value, KeyScope::shared, [&](const YamlEntry& inner, const KeySpec& key) {
    if (key.name == "dtype" || key.name == "shape") tensor.value.entries.push_back(inner);
    if (key.name == "init") shared.init = read.path(inner, key);
    if (key.name == "save") shared.save = read.path(inner, key);
    if (key.name != "access") return;
    if (const auto which = read.choice(inner, key))
      shared.own_part = Marked<bool>{which->value == 1, which->span};
  });
  auto type = parse_tensor(tensor, "shared", read);
  if (!type || !has_one_shape(tensor, *type, read)) return std::nullopt;
  shared.type = std::move(*type);
  return shared;
}

}  // namespace

std::vector<SharedSpec> parse_shared(const YamlEntry& entry, const KeySpec& key, SpecReader& read) {
  std::vector<SharedSpec> all;
  if (!read.is_mapping(entry, key)) return all;
  if (entry.value.entries.size() > kSharedMax) {
    read.error(entry.key_span, concat("`shared`: more than ", kSharedMax, " tensors"),
               {"lay several into one"});
    return all;
  }
  for (const YamlEntry& one : entry.value.entries)
    if (auto shared = parse_one(one, read)) all.push_back(std::move(*shared));
  return all;
}

}  // namespace brigade
