#pragma once

// What the user typed, as plain data. The only place that knows the command line's library.

#include <string>
#include <variant>
#include <vector>

#include "pipeline/process/completions.h"
#include "pipeline/process/graph_files.h"

namespace brigade {

struct RunArguments {
  GraphFiles graph;
  std::string summary_file;  ///< empty: none
  std::string log_file;      ///< empty: none
  bool in_process = false;
  bool resume = false;
  bool overwrite = false;
  bool quiet = false;
};

struct CheckArguments {
  GraphFiles graph;
};

struct PlanArguments {
  GraphFiles graph;
  bool json = false;
  bool yaml = false;
};

struct DrawArguments {
  GraphFiles graph;
  std::string format = "ascii";  ///< ascii, dot or svg
};

struct StagesArguments {
  std::string name;                       ///< of a stage type; empty: all
  bool keys = false;                      ///< the table of keys instead
  bool json_schema = false;               ///< the whole language instead
  std::vector<std::string> plugins = {};  ///< files whose stage types are shown, too
};

struct SampleArguments {
  GraphFiles graph;
  std::string stage;
  std::uint64_t count = 8;
  std::string folder = "samples";
};

struct InitArguments {
  std::string folder = ".";
  std::string file;  ///< to write; empty: the folder's name with .yaml
};

struct HoldersArguments {
  int pid = 0;  ///< of a supervisor; 0: all
};

struct DoctorArguments {};

struct CompletionsArguments {
  std::string shell;
  std::vector<CommandWords> commands;
};

/// Nothing to run: text to show and the exit code (help, version, or a mistake).
struct ShowText {
  std::string text;
  int exit_code = 0;
};

using Command = std::variant<RunArguments, CheckArguments, PlanArguments, DrawArguments,
                             StagesArguments, SampleArguments, InitArguments, HoldersArguments,
                             DoctorArguments, CompletionsArguments, ShowText>;

/// `given`: the program's name first.
Command parse_command_line(const std::vector<std::string>& given);

}  // namespace brigade
