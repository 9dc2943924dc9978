#pragma once

// The output of workers, on its way to the user: split into lines, with
// backtraces readable and each shown once. One thread.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/run/launch/elf_symbols.h"

namespace brigade {

inline constexpr std::size_t kOutputLineBytesMax = 4096;

/// Splits the output of a process into lines, in whatever pieces it arrives. Lines without an end,
/// or longer than kOutputLineBytesMax, are cut. A carriage return restarts the line, as on a
/// terminal (progress bars of libraries).
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

/// Makes backtraces readable, and shows each once. The crashing process cannot, because it must not
/// allocate; the process that shows its lines can.
class Backtraces {
 public:
  /// A line that a worker has printed: what to show of it now. Lines of a backtrace
  /// (crash_handler.h) wait for its end.
  std::vector<std::string> add(int worker, std::string line);
  /// The worker prints no more.
  std::vector<std::string> end(int worker);

  /// A line of a backtrace with the function's name as it is written in the source:
  /// "lib.so(_ZN7brigade4stepEv+0x1f)" and "/a/lib.so(+0x1234)" become
  /// "lib.so(brigade::step()+0x1f)". Other lines stay as they are, and so do functions of files
  /// without a symbol table. `is_exact`: the address is that of an instruction, not one that a call
  /// returns to.
  std::string readable(std::string line, bool is_exact = false);

 private:
  std::string with_symbol(std::string line, bool is_exact);

  std::map<int, std::vector<std::string>> open_;  // lines of each worker's
  std::set<std::string> shown_;                   // whole ones
  std::map<std::string, ElfSymbols> files_;
};

}  // namespace brigade
