#include "pipeline/config/language/tensors_parser.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include <brigade/text.h>

namespace brigade {
namespace {

std::optional<Dim> parse_size(const YamlNode& node) {
  if (!node.is_scalar()) return std::nullopt;
  const auto bound = strip_prefix(node.text, "<=");
  const std::string_view text = trim(bound ? *bound : std::string_view(node.text));
  std::int64_t size = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), size);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size() || size < 1)
    return std::nullopt;
  return bound ? up_to(size) : Dim(size);
}

class TensorParser {
 public:
  TensorParser(SpecReader& read, const YamlEntry& entry, std::string_view what)
      : read_(read), entry_(entry), what_(what) {
    type.name = entry.key;
  }

  bool parse() {
    if (!is_name(entry_.key))
      return refuse(entry_.key_span, concat(quote(entry_.key), " is not a valid tensor name"),
                    "a name has letters, digits, _ and -, and begins with a letter");
    if (!entry_.value.is_map())
      return refuse(entry_.value.span, concat("expected a tensor, found ", describe(entry_.value)),
                    "a tensor is `NAME: {dtype: f32, shape: [3, 4]}`");
    const YamlEntry* const dtype = entry_.value.find("dtype");
    const YamlEntry* const shape = entry_.value.find("shape");
    for (const YamlEntry& inner : entry_.value.entries)
      if (&inner != dtype && &inner != shape)
        return refuse(inner.key_span, concat("unknown key ", quote(inner.key)),
                      "a tensor has `dtype:` and `shape:`");
    if (dtype == nullptr || shape == nullptr)
      return refuse(entry_.key_span, concat("missing `", dtype == nullptr ? "dtype" : "shape", "`"),
                    "a tensor is `NAME: {dtype: f32, shape: [3, 4]}`; [] is a scalar");
    return parse_dtype_of(dtype->value) && parse_shape(shape->value);
  }

  TensorType type;

 private:
  bool parse_dtype_of(const YamlNode& node) {
    const auto dtype = node.is_scalar() ? parse_dtype(node.text) : std::nullopt;
    if (!dtype)
      return refuse(node.span, concat("`dtype`: expected a dtype, found ", describe(node)),
                    "dtypes are bool, u8, i8, i16, i32, i64, f16, bf16, f32 and f64");
    type.dtype = *dtype;
    return true;
  }

  bool parse_shape(const YamlNode& node) {
    if (!node.is_list()) return refuse_size(node);
    for (const YamlNode& item : node.items) {
      const auto size = parse_size(item);
      if (!size) return refuse_size(item);
      type.shape.push_back(*size);
    }
    return true;
  }

  bool refuse_size(const YamlNode& node) {
    return refuse(node.span,
                  concat("`shape`: expected ", node.is_list() ? "a size" : "sizes of one sample",
                         ", found ", describe(node)),
                  "sizes are a list: [3, 4]; [] is a scalar, `<=100` varies from sample to sample");
  }

  bool refuse(const Span& span, const std::string& message, std::string help) {
    read_.error(span, concat("`", what_, "`: ", entry_.key, ": ", message), {std::move(help)});
    return false;
  }

  SpecReader& read_;
  const YamlEntry& entry_;
  const std::string_view what_;
};

}  // namespace

std::optional<TensorType> parse_tensor(const YamlEntry& entry, std::string_view what,
                                       SpecReader& read) {
  TensorParser parser(read, entry, what);
  if (!parser.parse()) return std::nullopt;
  return std::move(parser.type);
}

std::optional<Ports> parse_tensors(const YamlEntry& entry, const KeySpec& key, SpecReader& read) {
  if (!entry.value.is_map()) {
    read.unexpected(entry, key);
    return std::nullopt;
  }
  Ports ports;
  for (const YamlEntry& tensor : entry.value.entries) {
    auto type = parse_tensor(tensor, key.name, read);
    if (!type) return std::nullopt;
    ports.tensors.push_back(std::move(*type));
  }
  return ports;
}

namespace {

/// A size that differs has no place here, and a file of one number is a list of one.
bool has_one_shape(const YamlEntry& entry, const TensorType& type, SpecReader& read) {
  if (!type.ragged() && !type.shape.empty()) return true;
  read.error(entry.value.find("shape")->value.span,
             concat("`shared`: ", entry.key, ": `shape`: ",
                    type.shape.empty() ? "expected at least one dimension"
                                       : "expected fixed sizes, found an upper bound"),
             {"write the shape of the whole tensor, such as [1000, 10]; [1] is a single number"});
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
               {"combine several tensors into one"});
    return all;
  }
  for (const YamlEntry& one : entry.value.entries)
    if (auto shared = parse_one(one, read)) all.push_back(std::move(*shared));
  return all;
}

}  // namespace brigade
