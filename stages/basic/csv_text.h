#pragma once

// Comma-separated values as in RFC 4180: records on lines, fields between separators, a field
// in double quotes may hold separators, line ends and, doubled, quotes. Besides: lines may
// end in CR LF or LF, empty lines are passed over, the separator is any character, a quote
// inside an unquoted field is an ordinary character. Pure functions over a text in memory.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/result.h>

namespace brigade {

struct CsvField {
  std::string_view text;  ///< as it stands there, without the quotes around it
  std::size_t at = 0;     ///< where it begins in its record, quote included
  bool quoted = false;
  bool has_quotes = false;  ///< has doubled quotes, which csv_value() makes single
};

/// Where the record that begins at `begin` ends: after its line end. Nothing where a quoted field
/// is not closed.
std::optional<std::size_t> csv_record_end(std::string_view text, std::size_t begin, char separator);

/// Where the next record begins that is no empty line; the text's size where there is none.
std::size_t csv_skip_empty(std::string_view text, std::size_t begin);

/// The fields of one record, its line end included or not. An error where something follows a
/// closing quote, with the place in `at`.
Result<void> csv_split(std::string_view record, char separator, std::vector<CsvField>& fields,
                       std::size_t& at);

/// What a field says. `memory` is used where quotes were doubled.
std::string_view csv_value(const CsvField& field, std::string& memory);

/// "file.csv:3:17", from 1, in lines and bytes.
std::string csv_place(std::string_view path, std::string_view text, std::size_t at);

/// Past a byte order mark of UTF-8.
std::size_t csv_begin(std::string_view text);

}  // namespace brigade
