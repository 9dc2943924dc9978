// Texts, sizes and spans of time, word for word: tests/golden/base. `> FUNCTION A | B` asks for
// FUNCTION of A and of B; `> edit_distance A B`, `> did_you_mean WORD CANDIDATE CANDIDATE`, and
// `> table left right : CELL CELL | CELL CELL` and `> wrapped WIDTH left ...` are one question
// each.

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "base/printable.h"
#include "base/text_table.h"
#include "base/units.h"
#include "tests/support/word_for_word.h"

namespace brigade {
namespace {

using std::chrono::nanoseconds;

template <class T>
std::string shown(const Result<T>& result) {
  if (!result) return "error: " + result.error().message;
  if constexpr (std::is_same_v<T, nanoseconds>)
    return concat(result->count(), " ns");
  else
    return concat(*result);
}

std::string shown(const std::optional<std::string_view>& text) {
  return text ? quote(*text) : "nothing";
}

nanoseconds span(const std::string& text) { return nanoseconds(std::stoll(text)); }

/// The first word of `text` is a prefix or suffix, the rest what it is taken from.
std::string stripped(const std::string& text, decltype(strip_prefix)* strip) {
  const auto [part, whole] = parted(text, " ");
  return shown(strip(whole, part));
}

std::string in_quotes(const std::vector<std::string_view>& texts) {
  std::vector<std::string> quoted;
  for (const std::string_view text : texts) quoted.push_back(quote(text));
  return join(quoted, " ");
}

const std::map<std::string, std::function<std::string(const std::string&)>> kFunctions = {
    {"split", [](const std::string& text) { return in_quotes(split(text, '.')); }},
    {"trim", [](const std::string& text) { return quote(trim(text)); }},
    {"strip_prefix", [](const std::string& text) { return stripped(text, strip_prefix); }},
    {"strip_suffix", [](const std::string& text) { return stripped(text, strip_suffix); }},
    {"quote", quote},
    {"printable", printable},
    {"printable_lines", printable_lines},
    {"width", [](const std::string& text) { return concat(text_width(text)); }},
    {"format_count", [](const std::string& text) { return format_count(std::stoull(text)); }},
    {"parse_size", [](const std::string& text) { return shown(parse_size(text)); }},
    {"parse_duration", [](const std::string& text) { return shown(parse_duration(text)); }},
    {"parse_percentage", [](const std::string& text) { return shown(parse_percentage(text)); }},
    {"parse_share", [](const std::string& text) { return shown(parse_share(text)); }},
    {"print_size", [](const std::string& text) { return print_size(std::stoull(text)); }},
    {"print_share", [](const std::string& text) { return print_share(std::stoull(text)); }},
    {"print_duration", [](const std::string& text) { return print_duration(span(text)); }},
    {"format_size", [](const std::string& text) { return format_size(std::stoull(text)); }},
    {"format_duration", [](const std::string& text) { return format_duration(span(text)); }},
    {"format_nanoseconds",
     [](const std::string& text) { return format_nanoseconds(std::stoll(text)); }},
    {"format_percentage",
     [](const std::string& text) { return format_percentage(std::stod(text)); }},
    {"format_times", [](const std::string& text) { return format_times(std::stoi(text)); }},
    {"format_samples", [](const std::string& text) { return format_samples(std::stoull(text)); }},
};

std::string table(const std::string& text, const std::string& indent, std::size_t width) {
  const auto [columns, rows] = parted(text, " : ");
  std::vector<Align> aligned;
  for (const std::string& column : pieces(columns, " "))
    aligned.push_back(column == "left" ? Align::left : Align::right);
  TextTable made(aligned);
  for (const std::string& row : pieces(rows)) {
    std::vector<std::string> cells;
    for (const std::string& cell : pieces(row, " ")) cells.push_back(unescaped(cell));
    made.add(cells);
  }
  return width == 0 ? made.text(indent) : made.wrapped(indent, width);
}

struct Asked {
  std::string answer(std::string_view line) {
    const auto [verb, rest] = parted(line, " ");
    if (verb == "table") return table(rest, "] ", 0);
    if (verb == "wrapped")
      return table(parted(rest, " ").second, "] ", std::stoul(parted(rest, " ").first));
    const auto [word, others] = parted(rest, " ");
    if (verb == "edit_distance") return concat(edit_distance(word, others), "\n");
    if (verb == "did_you_mean") {
      const auto found = did_you_mean(unescaped(word), pieces(unescaped(others), " "));
      return found.value_or("nothing") + "\n";
    }
    std::string out;
    for (const std::string& text : rest.empty() ? std::vector<std::string>{""} : pieces(rest))
      out += kFunctions.at(verb)(unescaped(text)) + "\n";
    return out;
  }
};

TEST(Words, OfTexts) { expect_session<Asked>("base/texts.txt"); }

TEST(Words, OfSizesAndSpansOfTime) { expect_session<Asked>("base/units.txt"); }

}  // namespace
}  // namespace brigade
