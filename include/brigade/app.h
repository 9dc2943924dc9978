#pragma once

// A program that runs graphs. Brigade starts every stage as a process of its own by executing
// the program again; such a worker never returns from the constructor of App. Therefore make
// the App first in main(), before the program opens windows, files or devices:
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
  /// `types`: the program's own, found before those that come with Brigade.
  App(int argc, char** argv, const StageTypes& types = {});

  /// For a host that cannot be executed again, such as an interpreter: workers execute `program`, a
  /// `brigade` of this version. Empty: the one that was installed with this library. They know the
  /// stage types that come with Brigade, and those of plugins. An error: there is no such program.
  static Result<App> of_host(std::string program = "");

  /// The commands of `brigade` (run, check, plan, ...) with this program's stage types; returns the
  /// exit code.
  int run_command() const;

  const StageTypes& types() const { return types_; }
  /// What workers execute: a path.
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

/// What main() returns of a program that says whether all was right: 0, else 1. An error is a line
/// on standard error.
BRIGADE_API int exit_code(const Result<bool>& right);

}  // namespace brigade
