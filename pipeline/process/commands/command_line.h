#pragma once

// What the user typed, as plain data. The only place that knows the command line's library.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace brigade {

/// Which graph: files in the order in which they are laid over each other, and what is set on top.
struct GraphArguments {
  std::vector<std::string> files;
  std::vector<std::string> sets;
  std::optional<std::uint64_t> limit;
};

struct RunArguments {
  GraphArguments graph;
  std::string summary_file;  ///< empty: none
  std::string log_file;      ///< empty: none
  bool in_process = false;
  bool resume = false;
  bool quiet = false;
};

struct CheckArguments {
  GraphArguments graph;
};

struct PlanArguments {
  GraphArguments graph;
  bool json = false;
  bool yaml = false;
};

struct DrawArguments {
  GraphArguments graph;
  std::string format = "ascii";  ///< ascii, dot or svg
};

struct StagesArguments {
  std::string name;  ///< of a stage type; empty: all
};

/// Nothing to run: text to show and the exit code (help, version, or a mistake).
struct ShowText {
  std::string text;
  int exit_code = 0;
};

using Command = std::variant<RunArguments, CheckArguments, PlanArguments, DrawArguments,
                             StagesArguments, ShowText>;

/// `arguments`: the program's name first.
Command parse_command_line(const std::vector<std::string>& arguments);

}  // namespace brigade
