#include <brigade/text.h>

#include <algorithm>
#include <array>

namespace brigade {

namespace {

constexpr std::size_t kSuggestionBytesMax = 64;
constexpr std::string_view kBlank = " \t\r\n";

char lower(char character) {
  return character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a')
                                              : character;
}

std::string lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const auto end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::optional<std::string_view> strip_prefix(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return text.substr(prefix.size());
}

std::optional<std::string_view> strip_suffix(std::string_view text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return std::nullopt;
  return text.substr(0, text.size() - suffix.size());
}

std::string format_count(std::uint64_t count) {
  std::string digits = concat(count);
  for (std::size_t place = digits.size(); place > 3; place -= 3) digits.insert(place - 3, 1, ',');
  return digits;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table: for the prefix of `a` before the last, the last, and this one.
  std::array<std::vector<std::size_t>, 3> rows;
  for (auto& row : rows) row.resize(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i + 2) % 3];
    const auto& before_above = rows[(i + 1) % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_above[j - 2] + 1);
    }
  }
  return rows[a.size() % 3][b.size()];
}

namespace detail {

std::optional<std::size_t> suggestion_distance(std::string_view word, std::string_view candidate) {
  if (std::max(word.size(), candidate.size()) > kSuggestionBytesMax) return std::nullopt;
  const std::size_t distance = edit_distance(lowered(word), lowered(candidate));
  const std::size_t allowed = std::max<std::size_t>(1, word.size() / 3);
  if (distance > allowed || distance >= word.size()) return std::nullopt;
  return distance;
}

}  // namespace detail

}  // namespace brigade
