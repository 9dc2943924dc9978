#pragma once

// Reads JSON from untrusted sources: labels in archives, positions, plans, reports. The library
// reads any depth, but prints, copies and compares values recursively, so that a text of
// brackets would overflow the stack of its reader; here the depth has a limit. Pure; any thread.

#include <nlohmann/json.hpp>
#include <string_view>

#include <brigade/result.h>
#include <brigade/text.h>

namespace brigade {

inline constexpr int kJsonDepthMax = 100;  ///< lists and objects in each other; ours have 10

/// Errors, to be read after the text's name: "is no JSON", "is nested deeper than 100 levels".
template <class Json = nlohmann::json>
Result<Json> parse_json(std::string_view text) {
  // The library takes a zero byte for the end, and whatever follows it for nothing.
  if (text.find('\0') != text.npos) return Error{"is not JSON"};
  bool too_deep = false;
  using Parsed = typename Json::parse_event_t;
  // `depth`: of what an event lies in.
  const auto within_depth = [&too_deep](int depth, Parsed event, Json&) {
    const bool opens = event == Parsed::array_start || event == Parsed::object_start;
    too_deep |= opens && depth >= kJsonDepthMax;
    return !too_deep;
  };
  Json json = Json::parse(text.begin(), text.end(), within_depth, /*allow_exceptions=*/false);
  if (too_deep) return Error{concat("is nested deeper than ", kJsonDepthMax, " levels")};
  if (json.is_discarded()) return Error{"is not JSON"};
  return json;
}

}  // namespace brigade
