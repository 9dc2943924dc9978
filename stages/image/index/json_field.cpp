#include "stages/image/index/json_field.h"

#include <limits>
#include <string>

#include <brigade/text.h>
#include "base/json.h"

namespace brigade {

namespace {

constexpr std::size_t kShownBytes = 40;

using nlohmann::json;

Result<const json*> find_field(const json& parsed, std::string_view field) {
  const json* at = &parsed;
  for (const std::string_view name : split(field, '.')) {
    const auto found = at->is_object() ? at->find(std::string(name)) : at->end();
    if (!at->is_object() || found == at->end()) return Error{concat("has no field ", quote(field))};
    at = &*found;
  }
  return at;
}

Error unexpected(const json& value, std::string_view field, std::string_view expected) {
  std::string shown = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (shown.size() > kShownBytes) shown.replace(kShownBytes, shown.npos, "...");
  return Error{concat("has ", shown, " as ", quote(field), ", expected ", expected)};
}

}  // namespace

Result<std::int64_t> json_integer(std::string_view text, std::string_view field) {
  BRIGADE_ASSIGN(const json parsed, parse_json(text));
  BRIGADE_ASSIGN(const json* const at, find_field(parsed, field));
  const bool fits = !at->is_number_unsigned() ||
                    at->get<std::uint64_t>() <=
                        static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (at->is_number_integer() && fits) return at->get<std::int64_t>();
  return unexpected(*at, field, "a whole number");
}

Result<std::string> json_text(std::string_view text, std::string_view field) {
  BRIGADE_ASSIGN(const json parsed, parse_json(text));
  BRIGADE_ASSIGN(const json* const at, find_field(parsed, field));
  if (!at->is_string()) return unexpected(*at, field, "a string");
  return at->get<std::string>();
}

}  // namespace brigade
