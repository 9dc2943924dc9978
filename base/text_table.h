#pragma once

// Rows of cells as lines of text with aligned columns, two spaces apart; no space at a line's end.
// Width is counted in characters of UTF-8, not in bytes.
//
//   TextTable table({Align::left, Align::right});
//   table.add({"images", "64"});
//   out += table.text("  ");   // each line starts with two spaces

#include <string>
#include <vector>

namespace brigade {

enum class Align : unsigned char { left, right };

class TextTable {
 public:
  explicit TextTable(std::vector<Align> columns) : columns_(std::move(columns)) {}

  /// As many cells as columns, or fewer; made printable.
  void add(std::vector<std::string> cells);
  std::string text(const std::string& indent = "") const;
  /// Lines of at most `width` characters: the last column goes on below itself. A word that is
  /// longer than the column stays whole.
  std::string wrapped(const std::string& indent, std::size_t width) const;

 private:
  std::vector<std::size_t> widths() const;

  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;
};

inline constexpr std::size_t kTextWidth = 100;  ///< characters of a line that people read

/// Characters in a UTF-8 text. Where it is no UTF-8, runs of continuation bytes count to the
/// character before them.
std::size_t text_width(const std::string& text);

}  // namespace brigade
