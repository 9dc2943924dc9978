#include "pipeline/config/language/key_text.h"

#include <chrono>

#include <brigade/text.h>
#include "base/units.h"

namespace brigade {
namespace {

constexpr std::uint64_t kUnboundedFrom = 1ull << 31;  // a limit that nobody meets is not told

using enum KeyScope;
using enum KeyType;

}  // namespace

std::string key_takes(const KeySpec& key) {
  const auto whole_number = [&key] {
    if (key.minimum == key.maximum) return concat(key.minimum);
    if (key.maximum >= kUnboundedFrom) return concat("a whole number of at least ", key.minimum);
    return concat("a whole number from ", key.minimum, " to ", key.maximum);
  };
  const auto time = [](std::uint64_t ns) {
    return print_duration(std::chrono::nanoseconds(static_cast<std::int64_t>(ns)));
  };
  switch (key.type) {
    case flag:
      return "true or false";
    case whole:
      return whole_number();
    case whole_auto:
      return concat(whole_number(), " or auto");
    case KeyType::text:
      return "text";
    case KeyType::name:
      return "a name";
    case names:
      return "a name or a list of names";
    case path:
      return "a path";
    case size:
      return concat("a size of at least ", print_size(key.minimum), " such as 64MiB");
    case duration:
      return concat("a duration from ", time(key.minimum), " to ", time(key.maximum));
    case choice:
      return join(value_names(key.scope, key.name), ", ", " or ");
    case mapping:
      return "a mapping";
    case special:
      return std::string(key.takes);
  }
  return "";
}

std::string key_path(const KeySpec& key) {
  if (key.scope == top || key.scope == KeyScope::stage || key.scope == source)
    return std::string(key.name);
  return concat(scope_name(key.scope), ".", key.name);
}

std::string scope_text(KeyScope scope) {
  if (scope == top) return "at the top level";
  if (scope == KeyScope::stage || scope == source) return concat("of a ", scope_name(scope));
  return concat("in `", scope_name(scope), ":`");
}

std::string plan_field_name(const KeySpec& key) {
  if (!key.plan_name.empty()) return std::string(key.plan_name);
  return concat(key.name, key.type == duration ? "_ns" : "");
}

}  // namespace brigade
