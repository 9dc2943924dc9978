#include "pipeline/plan/plan_json.h"

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>

#include <brigade/text.h>
#include "base/json.h"
#include "base/printable.h"
#include "pipeline/plan/plan_check.h"
#include "pipeline/plan/plan_fields.h"

namespace brigade {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kBytesKey = "bytes";  // of text that is not UTF-8: each byte as a character
constexpr const char* kBoundKey = "up_to";

template <class Enum>
struct EnumNames;
template <>
struct EnumNames<StageKind> {
  static constexpr std::array<const char*, 3> names = {"producer", "transform", "consumer"};
};
template <>
struct EnumNames<Join> {
  static constexpr std::array<const char*, 4> names = {"single", "zip", "merge", "epochs"};
};

// Writing.

bool is_utf8(const std::string& text) {
  std::size_t at = 0;
  for (std::size_t length = 1; at < text.size() && length > 0; at += length)
    length = utf8_length(text, at);
  return at == text.size();
}

Json to_json(const std::string& text) {
  if (is_utf8(text)) return text;
  std::string characters;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte >= 0x80) characters += static_cast<char>(0xc0 | byte >> 6);
    characters += static_cast<char>(byte < 0x80 ? byte : 0x80 | (byte & 0x3f));
  }
  return Json{{kBytesKey, characters}};
}

template <class Number>
requires std::is_arithmetic_v<Number> Json to_json(Number number) { return number; }

template <class Enum>
requires std::is_enum_v<Enum> Json to_json(Enum value) {
  return EnumNames<Enum>::names[static_cast<std::size_t>(value)];
}

template <class Kind>
Json to_json(Number<Kind> number) {
  return number.value();
}

Json to_json(DType dtype) { return dtype_name(dtype); }

template <class Value>
Json to_json(const std::optional<Value>& value) {
  return value ? to_json(*value) : Json();
}

Json to_json(const Dim& dim) {
  if (dim.kind == Dim::Kind::exact) return dim.size;
  return Json{{kBoundKey, dim.size}};
}

Json to_json(const ParamValue& value);
template <class First, class Second>
Json to_json(const std::pair<First, Second>& pair);
template <class Struct>
requires std::is_class_v<Struct> Json to_json(const Struct& value);

template <class Item>
Json to_json(const std::vector<Item>& items) {
  Json list = Json::array();
  for (const Item& item : items) list.push_back(to_json(item));
  return list;
}

template <class N, class Item>
Json to_json(const Numbered<N, Item>& items) {
  return to_json(static_cast<const std::vector<Item>&>(items));
}

template <class First, class Second>
Json to_json(const std::pair<First, Second>& pair) {
  return Json::array({to_json(pair.first), to_json(pair.second)});
}

/// null, text, a list, or a map as {"map": [[key, value], ...]}, which keeps order and doubles.
Json to_json(const ParamValue& value) {
  switch (value.kind) {
    case ParamValue::Kind::null:
      return nullptr;
    case ParamValue::Kind::scalar:
      return to_json(value.text);
    case ParamValue::Kind::list:
      return to_json(value.items);
    case ParamValue::Kind::map:
      return Json{{"map", to_json(value.entries)}};
  }
  return nullptr;
}

template <class Enum>
Json to_json(const PlanChoice<Enum>& choice) {
  return value_names(choice.key.scope, choice.key.name)[static_cast<std::size_t>(choice.value)];
}

struct Writer {
  Json object = Json::object();
  template <class Field>
  void operator()(const std::string& name, const Field& field) {
    object[name] = to_json(field);
  }
};

template <class Struct>
requires std::is_class_v<Struct> Json to_json(const Struct& value) {
  Writer writer;
  plan_fields(writer, const_cast<Struct&>(value));  // the writer takes every field by const&
  return std::move(writer.object);
}

// Reading.

Error expected(const char* what, const Json& found) {
  return Error{concat("expected ", what, ", found ",
                      found.is_structured() ? found.type_name() : found.dump(-1, ' ', true))};
}

/// `place` in front of an error inside it: "queues" + "[0].task: expected ..." .
Error inside(const std::string& place, const Error& error) {
  const bool ends = error.message.rfind("expected ", 0) == 0;
  const bool list = error.message.front() == '[';
  return Error{concat(place, ends ? ": " : list ? "" : ".", error.message)};
}

Result<void> from_json(const Json& json, std::string& out) {
  if (json.is_string()) {
    out = json.get_ref<const std::string&>();
    return {};
  }
  const auto bytes = json.is_object() ? json.find(kBytesKey) : json.end();
  if (bytes == json.end() || !bytes->is_string()) return expected("text", json);
  const std::string& characters = bytes->get_ref<const std::string&>();
  out.clear();
  for (std::size_t i = 0; i < characters.size(); ++i) {
    const auto lead = static_cast<unsigned char>(characters[i]);
    if (lead < 0x80) {
      out += characters[i];
    } else if ((lead & 0xfc) == 0xc0 && i + 1 < characters.size()) {
      out += static_cast<char>(lead << 6 | (characters[++i] & 0x3f));
    } else {
      return expected("characters up to U+00FF", json);
    }
  }
  return {};
}

Result<void> from_json(const Json& json, bool& out) {
  if (!json.is_boolean()) return expected("true or false", json);
  out = json.get<bool>();
  return {};
}

Result<void> from_json(const Json& json, double& out) {
  if (!json.is_number()) return expected("a number", json);
  out = json.get<double>();
  return {};
}

Result<void> from_json(const Json& json, std::uint64_t& out) {
  if (!json.is_number_unsigned()) return expected("a whole number of at least 0", json);
  out = json.get<std::uint64_t>();
  return {};
}

Result<void> from_json(const Json& json, std::int64_t& out) {
  const bool fits = json.is_number_unsigned()
                        ? json.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max()
                        : json.is_number_integer();
  if (!fits) return expected("a whole number", json);
  out = json.get<std::int64_t>();
  return {};
}

Result<void> from_json(const Json& json, int& out) {
  std::int64_t wide = 0;
  BRIGADE_TRY(from_json(json, wide));
  if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max())
    return expected("a whole number of 32 bits", json);
  out = static_cast<int>(wide);
  return {};
}

template <class Names, class Enum>
Result<void> from_name(const Json& json, const Names& names, Enum& out) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!json.is_string() || json.get_ref<const std::string&>() != names[i]) continue;
    out = static_cast<Enum>(i);
    return {};
  }
  return expected(concat("one of ", join(names, ", ")).c_str(), json);
}

template <class Enum>
requires std::is_enum_v<Enum> Result<void> from_json(const Json& json, Enum& out) {
  return from_name(json, EnumNames<Enum>::names, out);
}

template <class Enum>
Result<void> from_json(const Json& json, PlanChoice<Enum>& out) {
  return from_name(json, value_names(out.key.scope, out.key.name), out.value);
}

template <class Value>
Result<void> from_json(const Json& json, std::optional<Value>& out) {
  out.reset();
  return json.is_null() ? Result<void>() : from_json(json, out.emplace());
}

template <class Kind>
Result<void> from_json(const Json& json, Number<Kind>& out) {
  int value = 0;
  BRIGADE_TRY(from_json(json, value));
  out = Number<Kind>(value);
  return {};
}

Result<void> from_json(const Json& json, DType& out) {
  const auto dtype =
      json.is_string() ? parse_dtype(json.get_ref<const std::string&>()) : std::nullopt;
  if (!dtype) return expected("a dtype", json);
  out = *dtype;
  return {};
}

Result<void> from_json(const Json& json, Dim& out) {
  const auto bound = json.is_object() ? json.find(kBoundKey) : json.end();
  out.kind = bound == json.end() ? Dim::Kind::exact : Dim::Kind::up_to;
  return from_json(bound == json.end() ? json : *bound, out.size);
}

Result<void> from_json(const Json& json, ParamValue& out);
template <class First, class Second>
Result<void> from_json(const Json& json, std::pair<First, Second>& out);
template <class Struct>
requires std::is_class_v<Struct> Result<void> from_json(const Json& json, Struct& out);

/// A value to read into. (Pairs by parts: clang has no default constructor for a pair that was
/// named while ParamValue was incomplete.)
template <class Item>
struct Blank {
  static Item make() { return Item{}; }
};
template <>
struct Blank<Dim> {
  static Dim make() { return Dim(0); }
};
template <class First, class Second>
struct Blank<std::pair<First, Second>> {
  static std::pair<First, Second> make() { return {First{}, Second{}}; }
};

template <class Item>
Result<void> from_json(const Json& json, std::vector<Item>& out) {
  if (!json.is_array()) return expected("a list", json);
  out.clear();
  for (const Json& element : json) {
    Item item = Blank<Item>::make();
    if (auto read = from_json(element, item); !read)
      return inside(concat("[", out.size(), "]"), read.error());
    out.push_back(std::move(item));
  }
  return {};
}

template <class N, class Item>
Result<void> from_json(const Json& json, Numbered<N, Item>& out) {
  return from_json(json, static_cast<std::vector<Item>&>(out));
}

template <class First, class Second>
Result<void> from_json(const Json& json, std::pair<First, Second>& out) {
  if (!json.is_array() || json.size() != 2) return expected("a list with two items", json);
  BRIGADE_TRY(from_json(json[0], out.first));
  return from_json(json[1], out.second);
}

Result<void> from_json(const Json& json, ParamValue& out) {
  const auto map = json.is_object() ? json.find("map") : json.end();
  if (json.is_null()) {
    out.kind = ParamValue::Kind::null;
  } else if (json.is_array()) {
    out.kind = ParamValue::Kind::list;
    for (const Json& element : json) BRIGADE_TRY(from_json(element, out.items.emplace_back()));
  } else if (map != json.end()) {
    out.kind = ParamValue::Kind::map;
    if (!map->is_array()) return expected("a list of entries", *map);
    for (const Json& entry : *map) {
      if (!entry.is_array() || entry.size() != 2) return expected("a list with two items", entry);
      std::string key;
      ParamValue value;
      BRIGADE_TRY(from_json(entry[0], key));
      BRIGADE_TRY(from_json(entry[1], value));
      out.entries.emplace_back(std::move(key), std::move(value));
    }
  } else {
    out.kind = ParamValue::Kind::scalar;
    return from_json(json, out.text);
  }
  return {};
}

/// Stops at the first field that is missing or wrong.
struct Reader {
  const Json& object;
  Result<void> result = {};

  template <class Field>
  void operator()(const std::string& name, Field& field) {
    if (!result) return;
    const auto found = object.find(name);
    if (found == object.end()) {
      result = Error{concat(name, ": missing")};
    } else if (auto read = from_json(*found, field); !read) {
      result = inside(name, read.error());
    }
  }
};

template <class Struct>
requires std::is_class_v<Struct> Result<void> from_json(const Json& json, Struct& out) {
  if (!json.is_object()) return expected("an object", json);
  Reader reader{json};
  plan_fields(reader, out);
  return reader.result;
}

template <class Struct>
Result<Struct> read_struct(std::string_view text, Result<void> (*check)(const Struct&)) {
  const auto json = parse_json<Json>(text);
  if (!json) return Error{concat("the plan ", json.error().message)};
  Struct read;
  if (auto result = from_json(*json, read); !result) return result.error().within("the plan");
  if (auto checked = check(read); !checked) return checked.error().within("the plan");
  return read;
}

}  // namespace

std::string plan_to_json(const Plan& plan, int indent) { return to_json(plan).dump(indent); }

Result<Plan> plan_from_json(std::string_view text) { return read_struct<Plan>(text, &check_plan); }

std::string run_to_json(const Plan& plan, const ResumePoint& resume) {
  return Json{{"plan", to_json(plan)}, {"resume", to_json(resume)}}.dump();
}

Result<PlannedRun> run_from_json(std::string_view text) {
  return read_struct<PlannedRun>(text, [](const PlannedRun& run) -> Result<void> {
    BRIGADE_TRY(check_plan(run.plan));
    return check_resume(run.plan, run.resume);
  });
}

}  // namespace brigade
