#pragma once

// The source of an index, as text that is checked again before the index is
// used: parts, one after the other, each ended by a zero byte. Plain functions.

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/path_stamp.h>
#include <brigade/skipped_inputs.h>
#include <brigade/text.h>

namespace brigade {

/// What changed so shortly before a look may have changed again after it without showing: the
/// clocks of file systems are coarse.
inline constexpr std::int64_t kRecentNs = 50'000'000;

inline void add_part(std::string& text, std::string_view part) {
  text += part;
  text += '\0';
}

/// Nothing at the end.
inline std::optional<std::string_view> take_part(std::string_view& text) {
  const std::size_t end = text.find('\0');
  if (end == text.npos) return std::nullopt;
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end + 1);
  return part;
}

inline std::optional<std::int64_t> take_number(std::string_view& text) {
  const auto part = take_part(text);
  std::int64_t number = 0;
  if (!part) return std::nullopt;
  const auto [end, error] = std::from_chars(part->data(), part->data() + part->size(), number);
  if (error != std::errc{} || end != part->data() + part->size()) return std::nullopt;
  return number;
}

/// What the look skipped: kept with the index, as nobody looks again while it holds. Beside the
/// listing, not in it: a file more that is no sample changes no sample's number.
inline void add_skipped(std::string& text, const std::vector<SkippedInputs>& all) {
  add_part(text, concat(all.size()));
  for (const SkippedInputs& skipped : all) {
    add_part(text, concat(static_cast<unsigned>(skipped.why)));
    add_part(text, concat(skipped.count));
    add_part(text, skipped.text);
  }
}

/// Nothing where that is not what stands there.
inline std::optional<std::vector<SkippedInputs>> take_skipped(std::string_view& text) {
  const auto size = take_number(text);
  if (!size || *size < 0 || *size > static_cast<std::int64_t>(kSkipReasonsMax)) return std::nullopt;
  std::vector<SkippedInputs> all(static_cast<std::size_t>(*size));
  for (SkippedInputs& skipped : all) {
    const auto why = take_number(text);
    const auto count = take_number(text);
    const auto what = take_part(text);
    if (!why || *why < 0 || *why > static_cast<std::int64_t>(SkipReason::blank) || !count || !what)
      return std::nullopt;
    skipped = {static_cast<SkipReason>(*why), static_cast<std::uint64_t>(*count),
               std::string(*what)};
  }
  return all;
}

/// Of all of made_from: a text and the time of the look stand before it.
inline std::vector<SkippedInputs> skipped_of(std::string_view made_from) {
  take_part(made_from);
  take_number(made_from);
  return take_skipped(made_from).value_or(std::vector<SkippedInputs>());
}

}  // namespace brigade
