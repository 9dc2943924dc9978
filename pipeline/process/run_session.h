#pragma once

// One run from plan to outcome: shared memory, the crew (processes or threads), the threads that
// fill the pools, and the thread of the supervisor. Everything a run takes from the machine is
// taken here and given back by the destructor.

#include <memory>

#include "base/result.h"
#include "pipeline/plan/plan.h"
#include "pipeline/process/run_lines.h"
#include "pipeline/process/supervisor.h"
#include "stages/api/stage_types.h"

namespace brigade {

struct RunOptions {
  bool in_process = false;       ///< threads instead of processes
  bool handle_signals = false;   ///< SIGINT, SIGTERM and SIGHUP stop the run
  std::int64_t exec_ns = 0;      ///< CLOCK_MONOTONIC when the program started
  bool quarantine_file = false;  ///< lists what is left out, in the working directory
  RepairRules repair_rules;      ///< all of them, except in tests of the tests
};

class RunSession {
 public:
  /// Creates the memory and starts the run in a thread of its own; errors are about memory and
  /// descriptors. `types` and `lines` outlive the session.
  static Result<std::unique_ptr<RunSession>> start(Plan plan, const StageTypes& types,
                                                   RunLines& lines, const RunOptions& options);
  /// Ends the run at once if it is still going.
  ~RunSession();

  /// Waits for the end; the same answer every time.
  const RunOutcome& wait();

  /// Any thread. As if the signal had arrived: the first lets the line run dry, the second ends it.
  void stop(int signal);

  const Plan& plan() const;
  /// Threads of `--in-process` that do not return were left behind: the program must end by _exit.
  bool abandoned() const;

 private:
  RunSession();
  struct Attempt;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace brigade
