#include "pipeline/config/yaml/yaml_syntax.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <brigade/text.h>

namespace brigade {

namespace {

constexpr int kLinesBack = 20;  // how far above the place a cause is looked for

struct Case {
  const SourceText& source;
  SourceMark mark;
  std::string_view reason;
  Diagnostics& diagnostics;

  std::string_view line(int number) const { return source.line({mark.file, number, 1}); }
  Span at(int line_number, std::size_t column, std::size_t length = 1) const {
    return {{mark.file, line_number, static_cast<int>(column) + 1}, static_cast<int>(length)};
  }
};

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

bool is_blank(std::string_view line) {
  const std::string_view rest = trim(line);
  return rest.empty() || rest.front() == '#';
}

// The nearest line above that says something; 0: none.
int line_above(const Case& c, int number) {
  for (int above = number - 1; above > 0 && above >= number - kLinesBack; --above)
    if (!is_blank(c.line(above))) return above;
  return 0;
}

// "key:" or "- key:" at the start of a line: where the key's colon is.
std::optional<std::size_t> colon_of(std::string_view line) {
  std::size_t at = indent_of(line);
  while (line.substr(at).starts_with("- "))
    at = std::min(line.find_first_not_of(' ', at + 1), line.size());
  const std::size_t end = line.find_first_of(":\"'{[#, ", at);
  if (end == line.npos || end == at || line[end] != ':') return std::nullopt;
  return end;
}

bool explain_tab(const Case& c) {
  for (int number = c.mark.line; number > 0 && number >= c.mark.line - 1; --number) {
    const std::string_view line = c.line(number);
    const std::size_t tab = line.substr(0, line.find_first_not_of(" \t")).find('\t');
    if (tab == line.npos) continue;
    c.diagnostics.error(c.at(number, tab), "a tab in the indentation",
                        {"YAML indents with spaces: replace the tab by spaces"});
    return true;
  }
  return false;
}

// Text from a web page may be indented with spaces that are none.
bool explain_no_break_space(const Case& c) {
  constexpr std::string_view kNoBreakSpace = "\xC2\xA0";
  for (int number = c.mark.line; number > 0 && number >= c.mark.line - 1; --number) {
    const std::string_view line = c.line(number);
    const std::size_t indent = indent_of(line);
    if (!line.substr(indent).starts_with(kNoBreakSpace)) continue;
    c.diagnostics.error(
        c.at(number, indent), "a no-break space in the indentation",
        {"it looks like a space but is a different character: type the spaces again"});
    return true;
  }
  return false;
}

// A list item that stands neither below its key nor with the items above.
bool explain_item(const Case& c) {
  const std::string_view line = c.line(c.mark.line);
  const std::size_t indent = indent_of(line);
  if (!line.substr(indent).starts_with("- ") || c.mark.column != static_cast<int>(indent) + 1)
    return false;
  for (int above = line_above(c, c.mark.line); above != 0; above = line_above(c, above)) {
    if (c.mark.line - above > kLinesBack) return false;
    const std::string_view upper = c.line(above);
    const std::size_t level = indent_of(upper);
    if (!upper.substr(level).starts_with("- ")) continue;
    if (level == indent) return false;
    c.diagnostics.error(
        c.at(c.mark.line, indent),
        concat("wrong indentation: a list item with ", indent, indent == 1 ? " space" : " spaces",
               ", the item in line ", above, " has ", level));
    return true;
  }
  return false;
}

// Walks through the lines before the place and keeps what is open in { } and [ ].
struct FlowScan {
  struct Bracket {
    char open;
    int line;
    std::size_t column;
  };
  std::vector<Bracket> open;
  std::optional<std::pair<int, std::size_t>> dollar;  // the last `${` inside brackets
  std::optional<std::pair<int, std::size_t>> quote;   // a quote that does not end in its line

  void scan(std::string_view line, int number, std::size_t end) {
    char in_quote = 0;
    for (std::size_t i = 0; i < std::min(line.size(), end); ++i) {
      const char byte = line[i];
      if (in_quote != 0) {
        if (byte == '\\' && in_quote == '"')
          ++i;
        else if (byte == in_quote)
          in_quote = 0;
        continue;
      }
      const bool token_start =
          i == 0 || std::string_view(" \t,[{:=").find(line[i - 1]) != line.npos;
      if (byte == '#' && (i == 0 || line[i - 1] == ' ')) break;
      if ((byte == '"' || byte == '\'') && token_start) {
        in_quote = byte;
        quote = {number, i};
      } else if (byte == '$' && i + 1 < line.size() && line[i + 1] == '{' && !open.empty()) {
        dollar = {number, i};
      } else if ((byte == '{' || byte == '[') && (token_start || !open.empty())) {
        open.push_back({byte, number, i});
      } else if ((byte == '}' || byte == ']') && !open.empty()) {
        open.pop_back();
      }
    }
    if (in_quote == 0) quote.reset();
  }
};

FlowScan scan_before(const Case& c) {
  FlowScan scan;
  for (int number = std::max(1, c.mark.line - kLinesBack); number < c.mark.line; ++number) {
    const std::string_view line = c.line(number);
    scan.scan(line, number, line.size());
  }
  scan.scan(c.line(c.mark.line), c.mark.line, static_cast<std::size_t>(c.mark.column));
  return scan;
}

bool explain_dollar(const Case& c) {
  const FlowScan scan = scan_before(c);
  if (!scan.dollar || scan.dollar->first < c.mark.line - 1) return false;
  const auto [number, column] = *scan.dollar;
  const std::string_view rest = c.line(number).substr(column);
  const std::size_t closed = rest.find('}');
  const std::size_t length = rest.find_first_of(" ,]}", closed == rest.npos ? 2 : closed + 1);
  const std::string_view word = rest.substr(0, length);
  c.diagnostics.error(c.at(number, column, word.size()), "`${...}` inside { } or [ ] needs quotes",
                      {concat("write \"", word, "\"")});
  return true;
}

bool explain_unclosed(const Case& c) {
  if (!c.reason.starts_with("end of map flow") && !c.reason.starts_with("end of sequence flow") &&
      !c.reason.starts_with("illegal EOF") && !c.reason.starts_with("illegal flow end"))
    return false;
  const FlowScan scan = scan_before(c);
  if (scan.quote) {
    c.diagnostics.error(c.at(scan.quote->first, scan.quote->second), "this quote is never closed");
    return true;
  }
  if (scan.open.empty()) return false;
  const auto& [bracket, line, column] = scan.open.back();
  const bool brace = bracket == '{';
  const std::string_view close = brace ? "}" : "]";
  c.diagnostics.error(
      c.at(line, column),
      line == c.mark.line
          ? concat("after this `", bracket, "`, a comma or `", close, "` is missing")
          : concat("this `", bracket, "` is not closed where line ", c.mark.line, " continues"),
      {brace ? "inside { } write `key: value` pairs with commas between them"
             : "inside [ ] write values with commas between them"});
  return true;
}

bool explain_missing_space(const Case& c) {
  for (const int number : {c.mark.line, line_above(c, c.mark.line)}) {
    if (number == 0) continue;
    const std::string_view line = c.line(number);
    const auto colon = colon_of(line);
    if (!colon || *colon + 1 >= line.size() || line[*colon + 1] == ' ') continue;
    const std::size_t start = indent_of(line);
    c.diagnostics.error(c.at(number, *colon), "no space after the colon",
                        {concat("write `", line.substr(start, *colon - start), ": ",
                                trim(line.substr(*colon + 1)), "`")});
    return true;
  }
  return false;
}

// Deeper than a line above that already has its value.
bool explain_too_deep(const Case& c) {
  const int above = line_above(c, c.mark.line);
  if (above == 0) return false;
  const std::string_view upper = c.line(above);
  const std::string_view line = c.line(c.mark.line);
  const auto colon = colon_of(upper);
  if (indent_of(line) <= indent_of(upper) || !colon || !colon_of(line)) return false;
  if (trim(upper.substr(*colon + 1)).empty()) return false;
  c.diagnostics.error(
      c.at(c.mark.line, indent_of(line)),
      concat("wrong indentation: deeper than line ", above, ", whose key already has a value"),
      {concat("indent it by ", indent_of(upper), " spaces, as line ", above, " is")});
  return true;
}

// Less deep than the line above, at a depth where nothing began.
bool explain_no_level(const Case& c) {
  const std::size_t indent = indent_of(c.line(c.mark.line));
  std::vector<std::size_t> levels;
  for (int number = c.mark.line - 1; number > 0 && number >= c.mark.line - kLinesBack; --number) {
    if (is_blank(c.line(number))) continue;
    const std::size_t level = indent_of(c.line(number));
    if (level == indent) return false;
    if (levels.empty() || level < levels.back()) levels.push_back(level);
    if (level < indent) break;
  }
  if (levels.size() < 2 || levels.back() > indent) return false;
  std::reverse(levels.begin(), levels.end());
  c.diagnostics.error(c.at(c.mark.line, indent),
                      concat("wrong indentation: ", indent, " spaces, the lines above have ",
                             join(levels, ", ", " or ")));
  return true;
}

bool explain_no_colon(const Case& c) {
  for (const int number : {c.mark.line, line_above(c, c.mark.line)}) {
    if (number == 0) continue;
    const std::string_view text = trim(c.line(number));
    if (text.empty() || text.find_first_of(":\"'{}[]") != text.npos || text.starts_with('-'))
      continue;
    const std::size_t indent = indent_of(c.line(number));
    c.diagnostics.error(c.at(number, indent, text.size()), "expected `key: value`, found no colon");
    return true;
  }
  return false;
}

bool explain_second_colon(const Case& c) {
  if (!c.reason.starts_with("illegal map value")) return false;
  const std::string_view line = c.line(c.mark.line);
  const auto colon = colon_of(line);
  const auto at = static_cast<std::size_t>(c.mark.column - 1);
  if (!colon || at <= *colon) return false;
  c.diagnostics.error(
      c.at(c.mark.line, at), "a second `: ` in one line",
      {"a value with a colon needs quotes; begin a mapping on its own line, or put it in { }"});
  return true;
}

bool explain_word(const Case& c) {
  struct Known {
    std::string_view reason, message, help;
  };
  static constexpr std::array known = {
      Known{"the referenced anchor is not defined", "this alias has no anchor before it",
            "an anchor is `&name` before a value; text that begins with * needs quotes"},
      Known{"alias not found", "expected a name after `*`", "text that begins with * needs quotes"},
      Known{"anchor not found", "expected a name after `&`",
            "text that begins with & needs quotes"},
      Known{"illegal character found while scanning a",
            "this character is not allowed in an anchor",
            "text that begins with * or & needs quotes"},
      Known{"unknown token", "text cannot begin with this character", "put the text in quotes"},
      Known{"unknown escape character", "unknown escape after the backslash",
            "use 'single quotes' to keep the backslash as it is"},
      Known{"illegal block entry", "a list item (`- `) cannot begin here",
            "begin the list on its own line, below its key"},
      Known{"illegal flow end", "this closing bracket has no opening bracket", ""},
      Known{"illegal EOF in scalar", "this quote is never closed", ""},
      Known{"illegal map value", "unexpected `:`", "text with a colon needs quotes"},
      Known{"illegal map key", "unexpected `?`", "text that begins with ? needs quotes"},
      Known{"illegal tab", "a tab in the indentation", "YAML indents with spaces"},
  };
  for (const auto& [reason, message, help] : known) {
    if (!c.reason.starts_with(reason)) continue;
    std::vector<std::string> lines;
    if (!help.empty()) lines.emplace_back(help);
    c.diagnostics.error({c.mark, 1}, std::string(message), std::move(lines));
    return true;
  }
  return false;
}

}  // namespace

void explain_syntax_error(const SourceText& source, const SourceMark& mark, std::string_view reason,
                          Diagnostics& diagnostics) {
  Case c{source, mark, reason, diagnostics};
  c.mark.line = std::max(1, mark.line);
  c.mark.column = std::max(1, mark.column);
  if (explain_tab(c) || explain_no_break_space(c) || explain_dollar(c) || explain_item(c) ||
      explain_unclosed(c) || explain_missing_space(c) || explain_second_colon(c) ||
      explain_too_deep(c) || explain_no_level(c) || explain_no_colon(c) || explain_word(c))
    return;
  diagnostics.error({c.mark, 1}, concat("not YAML: ", reason));
}

}  // namespace brigade
