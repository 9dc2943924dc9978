#pragma once

// A text of comma-separated values (csv_text.h) as a table: its columns by name, its records by
// number. Errors begin with the file's path. Pure functions over a text in memory.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/result.h>
#include <brigade/stage_contract.h>
#include <brigade/types.h>

namespace brigade {

/// A separator as a parameter has it: one character, no quote, no line end.
Result<char> csv_separator(const std::string& text);

/// The columns of a table by its first line; "1", "2", ... without a header. `head`: the table or
/// its first kMetadataBytesMax bytes, in which the line must end.
Result<std::vector<std::string>> csv_names(const std::string& path, std::string_view head,
                                           char separator, bool header);

/// Which column is called so: exactly one.
Result<std::size_t> csv_find_column(const std::string& path, const std::vector<std::string>& names,
                                    const std::string& name, bool header);

/// How records with empty fields are handled. By default an empty line is not a record.
struct CsvMissing {
  bool blank_lines = false;  ///< are records, of a table with one column
  std::function<bool(std::string_view record)> leaves_out;  ///< may be empty
  std::string what;  ///< is left out: "records with nothing in age"
};

/// How many records a table has, where the header is all of it; nothing of a longer one.
std::optional<SampleCount> csv_samples(const FileHeader* file_header, const std::string& separator,
                                       bool header, const CsvMissing& missing = {});

/// Where the records lie: the place of every eighth is kept, a byte a record.
class CsvRecords {
 public:
  /// Looks through the whole text, which must last. Errors: a quote that is never closed, no
  /// record.
  static Result<CsvRecords> find(const std::string& path, std::string_view text, char separator,
                                 bool header, CsvMissing missing = {});

  std::uint64_t size() const { return size_; }
  /// Lines with nothing on them, behind a record, and records that were left out.
  std::vector<SkippedInputs> skipped() const;
  std::size_t begin(std::uint64_t record) const;
  /// With its line end.
  std::string_view text(std::uint64_t record) const;

 private:
  bool is_left_out(std::size_t begin, std::size_t end) const;
  std::size_t end(std::size_t begin) const;
  /// Where a record may begin, from `at` on.
  std::size_t next(std::size_t at) const;

  std::string_view text_;
  char separator_ = ',';
  CsvMissing missing_;
  std::uint64_t left_out_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t blank_lines_ = 0;
  std::vector<std::uint64_t> begins_;
};

}  // namespace brigade
