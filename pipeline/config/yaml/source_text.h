#pragma once

// The user's texts and places in them: files in the order of the command line, then the `--set`s.
// A mark is a place, a span is a place and a length. A mistake is shown with its line, so the
// texts must outlive the diagnostics. Plain data; load_graph fills it once, then it is only read.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/result.h>

namespace brigade {

/// Where something stands in the user's text; line and column count from 1, columns in bytes.
struct SourceMark {
  int file = -1;  ///< index into the list of files; -1: not from a file (--set, default)
  int line = 0;
  int column = 0;
  friend bool operator==(const SourceMark&, const SourceMark&) = default;
};

/// A token: where it begins and how many bytes of its line it takes.
struct Span {
  SourceMark mark;
  int length = 1;
};

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
