#include "pipeline/plan/text_table.h"

#include <algorithm>

#include "base/check.h"

namespace brigade {
namespace {

constexpr const char* kColumnGap = "  ";

void trim_end(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

}  // namespace

std::size_t text_width(const std::string& text) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  const auto continued = std::count_if(text.begin(), text.end(), continues);
  const std::size_t width = text.size() - static_cast<std::size_t>(continued);
  return !text.empty() && continues(text.front()) ? width + 1 : width;
}

void TextTable::add(std::vector<std::string> cells) {
  BRIGADE_CHECK(cells.size() <= columns_.size(), cells.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::text(const std::string& indent) const {
  std::vector<std::size_t> widths(columns_.size());
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], text_width(row[i]));

  std::string out;
  for (const auto& row : rows_) {
    std::string line = indent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - text_width(row[i]), ' ');
      if (i > 0) line += kColumnGap;
      line += columns_[i] == Align::left ? row[i] + padding : padding + row[i];
    }
    trim_end(line);
    out += line + '\n';
  }
  return out;
}

}  // namespace brigade
