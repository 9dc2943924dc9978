#pragma once

// Asks a Python stage (`transform: python`) for its inputs and outputs, for
// the configuration layer. A decorator in the user's file declares them, so
// a separate interpreter imports that file: one process for each such stage
// whenever a graph is checked, never one for its replicas. The real
// implementation is pipeline/run/launch/describe_process; tests pass a fake.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <brigade/result.h>

namespace brigade {

struct StageQuestion {
  /// The interpreter's absolute path, its arguments; behind them come a descriptor, for the answer,
  /// and `text`.
  std::vector<std::string> command;
  std::string folder;                                    ///< absolute: where it runs
  std::vector<std::pair<std::string, std::string>> env;  ///< over this process's own
  std::string text;                                      ///< the question, JSON
  std::chrono::nanoseconds timeout{};
};

class StageDescriber {
 public:
  virtual ~StageDescriber() = default;

  /// The interpreter where a stage names none: a path, or a name that PATH has.
  virtual std::string python() { return "python3"; }

  /// PYTHONPATH as it must be said to processes that run in another folder; empty: as it is.
  virtual std::string python_path() { return ""; }

  /// What that process has answered, JSON. The error, a line, is to be read after the
  /// interpreter's path: "has no module brigade". Waits.
  virtual Result<std::string> describe(const StageQuestion& question) = 0;
};

}  // namespace brigade
