#pragma once

// One run from plan to outcome: shared memory, the worker pool (processes or
// threads), the threads that fill the rings, and the thread of the supervisor.
// It acquires all resources of a run, and its destructor releases them.

#include <memory>

#include <brigade/result.h>
#include <brigade/stage_types.h>
#include "pipeline/application/input_queue.h"
#include "pipeline/application/output_queue.h"
#include "pipeline/plan/resume_point.h"
#include "pipeline/report/run_output.h"
#include "pipeline/run/run_options.h"
#include "pipeline/run/supervisor/supervisor.h"

namespace brigade {

class RunSession {
 public:
  /// Creates the memory and starts the run in a thread of its own; errors are about memory and
  /// descriptors. `types`: all that the plan names. `lines` outlive the session.
  static Result<std::unique_ptr<RunSession>> start(PlannedRun run, StageTypes types,
                                                   RunOutput& lines, const RunOptions& options);
  /// Ends the run at once if it is still going.
  ~RunSession();

  /// Waits for the end; the same answer every time. Any thread.
  const RunOutcome& wait();
  /// Likewise, and null where RunOptions::interrupted says so first.
  const RunOutcome* wait_unless_interrupted();
  /// Asks that, unless the run is over.
  bool is_interrupted() const;

  /// Any thread. As if the signal had arrived: the first drains the line, the second ends it.
  void stop(int signal);

  /// What a program's threads say to this run; null where it is no program's.
  std::shared_ptr<ProgramEnds> program() const;
  /// The application that is called so; null: there is none of that kind.
  std::shared_ptr<OutputQueue> output(std::string_view stage) const;
  std::shared_ptr<InputQueue> input(std::string_view stage) const;

  /// Also of batches that the program holds.
  std::shared_ptr<const RunMemory> memory() const;
  /// As Run::shared().
  Result<SharedTensor> shared(std::string_view name) const;

  /// Of a program's run: where it stands, as Run::state_at_epoch(). Any thread.
  Result<std::string> state(std::uint64_t first_epoch = 0) const;
  /// As Run::mark() and Run::state_at_mark(). Any thread.
  std::string mark() const;
  Result<std::string> state_at_mark(std::string_view mark) const;

  /// How far it is, as Run::stats_json(). Any thread.
  std::string stats_json() const;

  const Plan& plan() const;
  /// Threads of `--in-process` that do not return were left behind: the program must end by _exit.
  bool abandoned() const;

 private:
  RunSession();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace brigade
