#include "stages/basic/csv_table.h"

#include <algorithm>
#include <utility>

#include <brigade/text.h>
#include <brigade/types.h>
#include "stages/basic/csv_text.h"

namespace brigade {
namespace {

constexpr std::uint64_t kRecordsPerPlace = 8;

/// On one line, whatever is in a quoted name.
std::vector<std::string> shown(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names) {
    const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
      return static_cast<unsigned char>(c) >= ' ' && c != '\x7f';
    });
    out.push_back(plain && !name.empty() ? name : quote(name));
  }
  return out;
}

/// A CR between two lines and no LF anywhere; in quotes it is a part of its field.
bool has_lines_of_cr(std::string_view head) {
  const std::size_t line_end = head.find('\r');
  return line_end < head.size() - 1 && head.find('\n') == head.npos &&
         std::count(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(line_end), '"') % 2 ==
             0;
}

}  // namespace

Result<char> csv_separator(const std::string& text) {
  if (text.size() != 1 || text[0] == '"' || text[0] == '\n' || text[0] == '\r')
    return Error{
        concat("separator must be one character such as \",\" or \"\\t\", found ", quote(text))};
  return text[0];
}

Result<std::vector<std::string>> csv_names(const std::string& path, std::string_view head,
                                           char separator, bool header) {
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff"))
    return Error{concat(path, ": is in UTF-16; save it as UTF-8")};
  const std::size_t begin = csv_skip_empty(head, csv_begin(head));
  if (begin == head.size()) return Error{concat(path, ": has no lines")};
  if (has_lines_of_cr(head.substr(begin)))
    return Error{concat(
        path, ": its lines end in CR alone; convert them to LF (tr '\\r' '\\n' < FILE > NEW)")};
  const auto end = csv_record_end(head, begin, separator);
  if (!end || (*end == head.size() && head.size() == kMetadataBytesMax && !head.ends_with('\n')))
    return Error{concat(csv_place(path, head, begin), ": the first line does not end within ",
                        kMetadataBytesMax >> 10, " KiB; check for an unclosed quote")};
  std::vector<CsvField> fields;
  std::size_t at = 0;
  if (auto split = csv_split(head.substr(begin, *end - begin), separator, fields, at); !split)
    return split.error().within(csv_place(path, head, begin + at));
  std::vector<std::string> names;
  std::string memory;
  for (const CsvField& field : fields)
    names.push_back(header ? std::string(trim(csv_value(field, memory)))
                           : concat(names.size() + 1));
  return names;
}

Result<std::size_t> csv_find_column(const std::string& path, const std::vector<std::string>& names,
                                    const std::string& name, bool header) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    const auto meant = did_you_mean(name, names);
    return Error{concat(path, ": has no column ", quote(name),
                        meant ? concat("; did you mean ", quote(*meant), "?")
                              : concat("; the columns are ", join(shown(names), ", ", " and ")),
                        header ? "" : " (with `header: false` columns are numbers)")};
  }
  if (std::find(found + 1, names.end(), name) != names.end())
    return Error{concat(path, ": has duplicate columns ", quote(name))};
  return static_cast<std::size_t>(found - names.begin());
}

Result<CsvRecords> CsvRecords::find(const std::string& path, std::string_view text, char separator,
                                    bool header, CsvMissing missing) {
  CsvRecords out;
  out.text_ = text;
  out.separator_ = separator;
  out.missing_ = std::move(missing);
  std::size_t at = csv_begin(text);
  at = header ? csv_skip_empty(text, at) : out.next(at);
  for (bool first = header; at < text.size(); first = false) {
    const auto end = csv_record_end(text, at, separator);
    if (!end)
      return Error{concat(csv_place(path, text, at), ": a quote in this record is never closed")};
    if (!first && out.is_left_out(at, *end)) {
      ++out.left_out_;
    } else if (!first && out.size_++ % kRecordsPerPlace == 0) {
      out.begins_.push_back(at);
    }
    at = out.next(*end);
    out.blank_lines_ += static_cast<std::uint64_t>(
        std::count(text.begin() + static_cast<std::ptrdiff_t>(*end),
                   text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  }
  if (out.size_ > 0) return out;
  if (out.left_out_ > 0) return Error{concat(path, ": has only ", out.missing_.what)};
  return Error{concat(path, ": has no lines with data")};
}

std::vector<SkippedInputs> CsvRecords::skipped() const {
  std::vector<SkippedInputs> all;
  if (blank_lines_ > 0) all.push_back({SkipReason::blank, blank_lines_, "blank lines"});
  if (left_out_ > 0) all.push_back({SkipReason::blank, left_out_, missing_.what});
  return all;
}

bool CsvRecords::is_left_out(std::size_t begin, std::size_t end) const {
  return missing_.leaves_out && missing_.leaves_out(text_.substr(begin, end - begin));
}

std::size_t CsvRecords::end(std::size_t begin) const {
  return csv_record_end(text_, begin, separator_).value_or(text_.size());
}

std::size_t CsvRecords::next(std::size_t at) const {
  return missing_.blank_lines ? at : csv_skip_empty(text_, at);
}

std::size_t CsvRecords::begin(std::uint64_t record) const {
  std::size_t at = begins_[record / kRecordsPerPlace];
  for (std::uint64_t i = record % kRecordsPerPlace; i > 0; --i) {
    at = next(end(at));
    while (missing_.leaves_out && is_left_out(at, end(at))) at = next(end(at));
  }
  return at;
}

std::string_view CsvRecords::text(std::uint64_t record) const {
  const std::size_t at = begin(record);
  return text_.substr(at, end(at) - at);
}

std::optional<SampleCount> csv_samples(const FileHeader* file_header, const std::string& separator,
                                       bool header, const CsvMissing& missing) {
  if (file_header == nullptr || file_header->header.size() != file_header->file_bytes)
    return std::nullopt;
  const auto character = csv_separator(separator);
  if (!character) return std::nullopt;
  const auto records = CsvRecords::find("", file_header->header, *character, header, missing);
  if (!records) return std::nullopt;
  return SampleCount(records->size(), records->skipped());
}

}  // namespace brigade
