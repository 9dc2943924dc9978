#include "stages/basic/csv_text.h"

#include <algorithm>

#include <brigade/text.h>

namespace brigade {
namespace {

constexpr auto kNone = std::string_view::npos;

/// The quote that closes the one at `open`; kNone where there is none.
std::size_t closing_quote(std::string_view text, std::size_t open) {
  for (std::size_t at = text.find('"', open + 1); at != kNone; at = text.find('"', at + 2))
    if (at + 1 >= text.size() || text[at + 1] != '"') return at;
  return kNone;
}

std::string_view without_line_end(std::string_view record) {
  if (record.ends_with('\n')) record.remove_suffix(1);
  if (record.ends_with('\r')) record.remove_suffix(1);
  return record;
}

}  // namespace

std::optional<std::size_t> csv_record_end(std::string_view text, std::size_t begin,
                                          char separator) {
  std::size_t line_end = std::min(text.find('\n', begin), text.size());
  std::size_t field = begin;
  while (true) {
    // Only a quote at the beginning of a field opens one.
    const std::size_t quote = text.substr(0, line_end).find('"', field);
    if (quote == kNone) return std::min(line_end + 1, text.size());
    if (quote != begin && text[quote - 1] != separator) {
      field = quote + 1;
      continue;
    }
    const std::size_t close = closing_quote(text, quote);
    if (close == kNone) return std::nullopt;
    field = close + 1;
    if (field > line_end) line_end = std::min(text.find('\n', field), text.size());
  }
}

std::size_t csv_skip_empty(std::string_view text, std::size_t begin) {
  while (begin < text.size()) {
    const std::size_t at = begin + (text[begin] == '\r');
    if (at >= text.size()) return text.size();
    if (text[at] != '\n') return begin;
    begin = at + 1;
  }
  return text.size();
}

Result<void> csv_split(std::string_view record, char separator, std::vector<CsvField>& fields,
                       std::size_t& at) {
  record = without_line_end(record);
  fields.clear();
  for (at = 0;; ++at) {
    CsvField& field = fields.emplace_back();
    field.at = at;
    field.quoted = at < record.size() && record[at] == '"';
    std::size_t end = 0;
    if (field.quoted) {
      const std::size_t close = std::min(closing_quote(record, at), record.size());
      field.text = record.substr(at + 1, close - at - 1);
      field.has_quotes = field.text.find('"') != kNone;
      end = std::min(close + 1, record.size());
      if (end < record.size() && record[end] != separator) {
        at = end;
        return Error{concat("expected ", quote(std::string(1, separator)),
                            " or the end of the line after a closing quote, found ",
                            quote(record.substr(end, 1)))};
      }
    } else {
      end = std::min(record.find(separator, at), record.size());
      field.text = record.substr(at, end - at);
    }
    at = end;
    if (end == record.size()) return {};
  }
}

std::string_view csv_value(const CsvField& field, std::string& memory) {
  if (!field.has_quotes) return field.text;
  memory.clear();
  for (std::size_t i = 0; i < field.text.size(); ++i) {
    memory += field.text[i];
    if (field.text[i] == '"') ++i;  // the second of two
  }
  return memory;
}

std::string csv_place(std::string_view path, std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const std::size_t line_begin = before.rfind('\n') == kNone ? 0 : before.rfind('\n') + 1;
  return concat(path, ":", std::count(before.begin(), before.end(), '\n') + 1, ":",
                at - line_begin + 1);
}

std::size_t csv_begin(std::string_view text) { return text.starts_with("\xef\xbb\xbf") ? 3 : 0; }

}  // namespace brigade
