#pragma once

// The texts a graph was made of: files in the order of the command line, then the `--set`s. A
// mistake is shown with its line, so the texts live as long as the diagnostics do. Plain data;
// filled once by load_graph, then only read.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/result.h>
#include "pipeline/config/yaml/source_mark.h"

namespace brigade {

/// Longest text that is read; a graph of hundreds of stages has a few dozen KiB.
inline constexpr std::size_t kSourceBytesMax = 1 << 20;

struct SourceFile {
  std::string name;    ///< as the user gave it; "--set" for a setting
  std::string text;    ///< UTF-8 without a byte order mark
  std::string folder;  ///< absolute; what relative paths in this text are relative to
  bool is_setting = false;
};

class SourceText {
 public:
  /// Takes a text and returns its number (SourceMark::file).
  int add(SourceFile file);

  int count() const { return static_cast<int>(files_.size()); }
  const SourceFile& file(int number) const;

  /// How many lines a text has.
  int lines(int number) const;

  /// A line without its line end; empty where there is none.
  std::string_view line(const SourceMark& mark) const;

 private:
  struct Entry {
    SourceFile file;
    std::vector<std::size_t> starts;  // of lines
  };
  std::vector<Entry> files_;
};

/// Reads a YAML file. Folders, pipes, empty and binary files, other encodings and files above
/// kSourceBytesMax are errors of one line (without the path).
Result<std::string> read_source(const std::string& path);

/// What read_source() checks once it has the bytes: the text without a byte order mark, or why it
/// is no text. Pure.
Result<std::string> check_source(std::string bytes);

}  // namespace brigade
