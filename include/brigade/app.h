#pragma once

// A program that runs graphs. Brigade starts every stage as a separate process by executing the
// program again; in such a worker the constructor of App never returns. Therefore create the App
// first in main(), before the program opens windows, files or devices:
//
//   int main(int argc, char** argv) {
//     brigade::StageTypes types;
//     types.add<Flip>(flip_contract());        // own stages, known to the workers too
//     brigade::App app(argc, argv, types);
//     auto run = brigade::Pipeline::from_file("imagenet.yaml").value().start(app).value();
//     return run->wait() ? 0 : 1;
//   }

#include <cstdint>
#include <string>
#include <vector>

#include <brigade/export.h>
#include <brigade/result.h>
#include <brigade/stage_types.h>

namespace brigade {

class BRIGADE_API App {
 public:
  /// `types`: the program's own stage types, which take precedence over those of Brigade.
  App(int argc, char** argv, const StageTypes& types = {});

  /// For a host that cannot be executed again, such as an interpreter: workers execute `program`, a
  /// `brigade` of this version. Empty: the one installed with this library. Workers know the stage
  /// types of Brigade and of plugins. Error: the program does not exist.
  static Result<App> of_host(std::string program = "");

  /// Runs the commands of `brigade` (run, check, plan, ...) with this program's stage types;
  /// returns the exit code.
  int run_command() const;

  const StageTypes& types() const { return types_; }
  /// Path of the program that workers execute.
  const std::string& workers() const { return workers_; }
  /// CLOCK_MONOTONIC, nanoseconds, when the program started.
  std::int64_t started_ns() const { return started_ns_; }

 private:
  App();
  std::vector<std::string> arguments_;
  std::string workers_ = "/proc/self/exe";
  StageTypes types_;
  std::int64_t started_ns_;
};

/// Exit code for main(): 0 for true, otherwise 1. Prints an error as a line on standard error.
BRIGADE_API int exit_code(const Result<bool>& right);

}  // namespace brigade
