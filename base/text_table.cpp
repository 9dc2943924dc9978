#include "base/text_table.h"

#include <algorithm>

#include <brigade/check.h>
#include <brigade/text.h>
#include "base/printable.h"

namespace brigade {
namespace {

constexpr const char* kColumnGap = "  ";

void trim_end(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

// The text in pieces of at most `width` characters, cut at spaces.
std::vector<std::string> pieces_of(const std::string& text, std::size_t width) {
  std::vector<std::string> pieces(1);
  for (const std::string_view word : split(text, ' ')) {
    std::string& last = pieces.back();
    if (last.empty()) {
      last = word;
    } else if (text_width(last) + 1 + text_width(std::string(word)) <= width) {
      last += concat(' ', word);
    } else {
      pieces.emplace_back(word);
    }
  }
  return pieces;
}

}  // namespace

std::size_t text_width(const std::string& text) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  const auto continued = std::count_if(text.begin(), text.end(), continues);
  const std::size_t width = text.size() - static_cast<std::size_t>(continued);
  return !text.empty() && continues(text.front()) ? width + 1 : width;
}

void TextTable::add(std::vector<std::string> cells) {
  BRIGADE_CHECK(cells.size() <= columns_.size(), cells.size());
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> widths(columns_.size());
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], text_width(row[i]));
  return widths;
}

std::string TextTable::wrapped(const std::string& indent, std::size_t width) const {
  const std::vector<std::size_t> all = widths();
  std::size_t before = text_width(indent);
  for (std::size_t i = 0; i + 1 < all.size(); ++i) before += all[i] + text_width(kColumnGap);
  const std::size_t last = columns_.size() - 1;
  TextTable out(columns_);
  for (const auto& row : rows_) {
    if (row.size() <= last) {
      out.add(row);
      continue;
    }
    std::vector<std::string> line = row;
    for (std::string& piece : pieces_of(row[last], width - std::min(before, width))) {
      line[last] = std::move(piece);
      out.add(line);
      line.assign(columns_.size(), "");
    }
  }
  return out.text(indent);
}

std::string TextTable::text(const std::string& indent) const {
  const std::vector<std::size_t> widths = this->widths();
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
