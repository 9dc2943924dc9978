#pragma once

// Splits the output of a process into lines, in whatever pieces it arrives. Lines
// without an end, or longer than kOutputLineBytesMax, are cut. A carriage return
// restarts the line, as on a terminal (progress bars of libraries). One thread.

#include <string>
#include <string_view>
#include <vector>

namespace brigade {

inline constexpr std::size_t kOutputLineBytesMax = 4096;

class LineSplitter {
 public:
  /// The lines that are complete now.
  std::vector<std::string> add(std::string_view bytes);
  /// What is left when the process has ended; empty when it ended its last line.
  std::string rest();

 private:
  void end_line(std::vector<std::string>& lines);

  std::string line_;
};

}  // namespace brigade
