#pragma once

// Small tools for text: building messages (concat, quote, join), taking text apart
// (split, trim), and suggesting the intended name (did_you_mean). Plain functions,
// callable from any thread. Text is bytes; nothing here depends on a locale.

#include <charconv>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <brigade/export.h>

namespace brigade {

namespace detail {

inline void append(std::string& out, std::string_view text) { out += text; }
inline void append(std::string& out, char character) { out += character; }

// A template, so that a pointer to characters does not turn into a bool.
template <std::same_as<bool> Bool>
void append(std::string& out, Bool value) {
  out += value ? "true" : "false";
}

template <class Number>
requires(std::is_arithmetic_v<Number> && !std::same_as<Number, bool> &&
         !std::same_as<Number, char>) void append(std::string& out, Number number) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, static_cast<std::size_t>(end - digits));
}

/// How far `word` is from `candidate`, capitals ignored; nothing when too far for a suggestion.
BRIGADE_API std::optional<std::size_t> suggestion_distance(std::string_view word,
                                                           std::string_view candidate);

}  // namespace detail

/// The parts in a row: strings, characters, numbers (shortest form that reads back), true/false.
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::string out;
  (detail::append(out, parts), ...);
  return out;
}

/// The pieces between separators; empty pieces are kept, so there is always at least one.
/// The pieces point into `text`.
BRIGADE_API std::vector<std::string_view> split(std::string_view text, char separator);

/// The pieces with `separator` between them, and `last` before the last one if given:
/// join(names, ", ", " or ") is "a, b or c".
template <class Range>
std::string join(const Range& pieces, std::string_view separator,
                 std::optional<std::string_view> last = std::nullopt) {
  std::string out;
  auto next = std::begin(pieces);
  const auto end = std::end(pieces);
  for (bool first = true; next != end; first = false) {
    const auto piece = next++;
    if (!first) out += next == end ? last.value_or(separator) : separator;
    detail::append(out, *piece);
  }
  return out;
}

/// Without spaces, tabs and line ends at both ends. Points into `text`.
BRIGADE_API std::string_view trim(std::string_view text);

/// What follows `prefix` (precedes `suffix`); nothing when the text does not start (end) with it.
BRIGADE_API std::optional<std::string_view> strip_prefix(std::string_view text,
                                                         std::string_view prefix);
BRIGADE_API std::optional<std::string_view> strip_suffix(std::string_view text,
                                                         std::string_view suffix);

/// In double quotes, on one line, and does nothing to a terminal: what acts there, bytes that are
/// no UTF-8, quotes and backslashes are escaped and can be read back. Other UTF-8 stays.
BRIGADE_API std::string quote(std::string_view text);

/// With a comma between groups of three digits: 60,000.
BRIGADE_API std::string format_count(std::uint64_t count);

/// Insertions, deletions, replacements and swaps of neighbours that turn one text into the other
/// (optimal string alignment: Damerau 1964, with each place edited once). Time a * b.
BRIGADE_API std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `word` (the first of several), capitals ignored; nothing when none is
/// within a third of its length. Texts above 64 bytes are never suggested.
template <class Range>
std::optional<std::string> did_you_mean(std::string_view word, const Range& candidates) {
  std::optional<std::string> best;
  std::size_t best_distance = ~std::size_t{0};
  for (const auto& candidate : candidates) {
    const auto distance = detail::suggestion_distance(word, candidate);
    if (!distance || *distance >= best_distance) continue;
    best_distance = *distance;
    best = std::string(candidate);
  }
  return best;
}

inline std::optional<std::string> did_you_mean(std::string_view word,
                                               std::initializer_list<std::string_view> candidates) {
  return did_you_mean<std::initializer_list<std::string_view>>(word, candidates);
}

}  // namespace brigade
