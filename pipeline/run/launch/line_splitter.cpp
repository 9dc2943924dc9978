#include "pipeline/run/launch/line_splitter.h"

#include <utility>

namespace brigade {

std::vector<std::string> LineSplitter::add(std::string_view bytes) {
  std::vector<std::string> lines;
  for (char byte : bytes) {
    if (byte == '\n') {
      end_line(lines);
      continue;
    }
    if (!line_.empty() && line_.back() == '\r') line_.clear();
    line_ += byte;
    if (line_.size() >= kOutputLineBytesMax) end_line(lines);
  }
  return lines;
}

void LineSplitter::end_line(std::vector<std::string>& lines) { lines.push_back(rest()); }

std::string LineSplitter::rest() {
  std::string line = std::exchange(line_, {});
  while (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

}  // namespace brigade
