#pragma once

// Every mistake of a run, each with its place, its line and what to do about it:
//
//   configs/fashion_mnist.yaml:16:16: error: stage "augment": unknown transform "augmnt_image"
//       transform: augmnt_image
//                  ^~~~~~~~~~~~
//     did you mean "augment_image"?  `brigade stages` lists all 14.
//
// Checks add and continue; nothing is thrown and nothing stops at the first mistake. One thread.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/config/yaml/source_text.h"

namespace brigade {

/// Most diagnostics that are kept; the rest is only counted.
inline constexpr std::size_t kDiagnosticsMax = 50;

enum class Severity : std::uint8_t { error, warning };

struct Diagnostic {
  Severity severity = Severity::error;
  Span span;                      ///< file -1: shown without a place
  std::string message;            ///< one line: what was expected and found
  std::vector<std::string> help;  ///< lines: what to do
  std::string path;               ///< shown instead of a place, for files that have no lines
};

/// Where people find it. `column` in characters; line 0: it is about all of `file`, or, where that
/// is empty, about no file.
struct ShownPlace {
  std::string file;
  int line = 0;
  int column = 0;
};
ShownPlace shown_place(const SourceText& source, const Diagnostic& diagnostic);

class Diagnostics {
 public:
  void error(const Span& span, std::string message, std::vector<std::string> help = {});
  void warning(const Span& span, std::string message, std::vector<std::string> help = {});
  /// About a whole file: "graph.yaml: error: no such file".
  void file_error(std::string path, std::string message);

  /// Drops what is said about this place from now on: an error there has been reported, and more
  /// would only follow from it.
  void silence(const SourceMark& mark) { silent_.push_back(mark); }

  bool ok() const { return errors_ == 0; }
  std::size_t errors() const { return errors_; }  ///< those above the limit included
  std::size_t warnings() const { return warnings_; }
  /// In the order in which they were found.
  const std::vector<Diagnostic>& all() const { return list_; }
  /// In the order of their places.
  std::vector<const Diagnostic*> sorted() const;

  /// For people: sorted by place, ends with a newline unless there is nothing to say.
  std::string render(const SourceText& source) const;

 private:
  void add(Diagnostic diagnostic);

  std::vector<Diagnostic> list_;
  std::vector<SourceMark> silent_;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
};

}  // namespace brigade
