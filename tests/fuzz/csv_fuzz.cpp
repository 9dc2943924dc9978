// A separator and a text of comma-separated values: every record ends further on, every field lies
// inside its record, and the records and the empty lines between them are the whole text.

#include <string>
#include <vector>

#include <brigade/check.h>
#include "stages/basic/csv_text.h"
#include "tests/fuzz/entry.h"

namespace brigade {
namespace {

void check_record(std::string_view record, char separator) {
  std::vector<CsvField> fields;
  std::string memory;
  std::size_t at = 0;
  const Result<void> split = csv_split(record, separator, fields, at);
  BRIGADE_CHECK(at <= record.size(), at, record.size());
  if (!split) return;
  BRIGADE_CHECK(!fields.empty());
  for (const CsvField& field : fields) {
    BRIGADE_CHECK(field.at <= record.size() && field.text.size() <= record.size() - field.at);
    const std::string_view value = csv_value(field, memory);
    BRIGADE_CHECK(value.size() <= field.text.size());
    BRIGADE_CHECK(field.quoted || value == field.text);
  }
}

void read(std::string_view text, char separator) {
  std::size_t at = csv_begin(text);
  for (;;) {
    at = csv_skip_empty(text, at);
    BRIGADE_CHECK(at <= text.size());
    if (at == text.size()) return;
    const auto end = csv_record_end(text, at, separator);
    if (!end) return (void)csv_place("f", text, at);
    BRIGADE_CHECK(*end > at && *end <= text.size(), at, *end);
    check_record(text.substr(at, *end - at), separator);
    at = *end;
  }
}

}  // namespace

void fuzz(std::string_view input) {
  if (input.empty()) return;
  const char separator = input[0];
  if (separator == '"' || separator == '\n' || separator == '\r') return;  // no separators
  read(input.substr(1), separator);
}

}  // namespace brigade
