#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <brigade/result.h>

namespace brigade {

/// The whole number at "a.b.c" of a JSON object of objects. Errors, to be read after the text's
/// name: those of parse_json(), "has no field "label"", "has "cat" as "label", expected a whole
/// number".
Result<std::int64_t> json_integer(std::string_view text, std::string_view field);

/// The text at "a.b.c"; errors in the same way.
Result<std::string> json_text(std::string_view text, std::string_view field);

}  // namespace brigade
