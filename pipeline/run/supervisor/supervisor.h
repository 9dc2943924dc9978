#pragma once

// The supervisor: starts the worker pool, starts the pipeline (see
// start_barrier.h), watches, stops, audits. It decides, the worker pool
// acts, and lines report it. One thread runs it from start to end:
//
//   opening -> running -> (asked to stop -> stopping -> draining) -> all have ended
//
// A dead replica is repaired and, depending on its `restart:`, restarted under its number
// while the others continue, or they continue without it. A replica that fails or disagrees,
// or has no restarts left, ends the run immediately: all others are stopped, and one line
// names the replica and the reason. A sample that repeatedly ends its worker is quarantined
// before its task can be claimed again. After a first stop request the sources finish and the
// pipeline drains, for at most the plan's `drain`; a second one ends the run immediately.

#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <brigade/stage_types.h>
#include "base/clock.h"
#include "pipeline/report/run_output.h"
#include "pipeline/report/summary.h"
#include "pipeline/run/launch/worker_pool.h"
#include "pipeline/run/supervisor/disk_writer.h"
#include "pipeline/run/supervisor/failure_report.h"
#include "pipeline/run/supervisor/recovery.h"
#include "pipeline/run/supervisor/source_counts.h"
#include "pipeline/run/supervisor/start_barrier.h"
#include "pipeline/run/supervisor/stop_requests.h"
#include "pipeline/run/supervisor/watchdog.h"

namespace brigade {

/// What ends a run.
enum class RunEnd : std::uint8_t {
  finished,    ///< every replica has ended by itself: all work is done, or a stop let it drain
  unbalanced,  ///< likewise, but the audit does not balance
  stopped,     ///< the replicas were ended by a stop request, or at the end of its drain
  failed,      ///< they were ended for the reason that `failure` says
  resumes      ///< they were ended, and repaired, to resume from the last checkpoint
};

struct RunOutcome {
  RunEnd end = RunEnd::finished;
  std::string failure;            ///< of `failed` and `unbalanced`: one line
  int signal = 0;                 ///< of the first stop request; 0: there was none
  std::int64_t resume_at_ns = 0;  ///< of `resumes`: not before, on the supervisor's clock
  RunSummary summary;             ///< audit and results only when everybody ended by itself

  bool ended_by_itself() const { return end == RunEnd::finished || end == RunEnd::unbalanced; }
};

/// 0, 1, or 128 + signal.
int exit_code(const RunOutcome& outcome);

/// What `--summary` writes.
std::string summary_json(const RunOutcome& outcome);

/// What the supervisor works with; everything outlives it.
struct SupervisorSetup {
  const Plan& plan;
  const ResumePoint& resume;
  const StageTypes& types;
  Control<SystemPolicy>& control;
  WorkerPool& worker_pool;
  StopRequests& stops;
  RunOutput& lines;
  const Clock& clock;
  std::int64_t exec_ns = 0;  ///< CLOCK_MONOTONIC when the program started
  DiskWriter& disk;
  RepairRules repair_rules;  ///< all of them, except in tests of the tests
  RecoveryTallies& tallies;
};

class Supervisor {
 public:
  explicit Supervisor(const SupervisorSetup& setup);

  /// Returns when every replica has ended.
  RunOutcome run();

  /// Any thread, while run() runs: ends the run for a reason from outside, such as lack of memory.
  void fail_from_outside(std::string message);

 private:
  enum class State { opening, running, stopping, draining, ending };

  struct Worker {
    bool ready = false;  // at least once
    bool done = false;
    bool ended = false;
    int restarts = 0;  // as its last death counted them; 0: it is the first of its number
    std::optional<std::int64_t> restart_ns;  // when to start it again
    std::deque<std::string> last_lines;
    ReplicaResults results;
  };

  void wait();
  int timeout_ms() const;
  void take_stops();
  void on_stop(int signal);
  void on_event(const WorkerEvent& event);
  void on(int number, const Ready& ready);
  void on(int number, const Failed& failed);
  void on(int number, const Logged& said);
  void on(int number, const Reported& reported);
  void on(int number, const Done& done);
  void on(int number, const Quarantined& quarantined);
  void on(int number, const Printed& printed);
  void on(int number, const Ended& ended);
  void on(int number, const NotStarted& failed);
  DeadReplica dead_replica(int number) const;
  void follow(int number, const Recovery::Decision& decision);
  void restart_due();
  bool restarts_pending() const;
  void begin();
  void step();
  void step_stop();
  void look_for_stalls();
  Event event_about(int number) const;
  void tell_stop(int signal, std::string text);
  void tell_stall(const Watchdog::Finding& finding);
  RunFigures figures_now() const;
  void tell_epochs();
  void tell_line(int number, EventKind kind, const std::string& line);
  void tell_restart(int number);
  void end(RunEnd why, std::string failure = "");
  void end(RunEnd why, const Event& failure);
  FailureReport death_of(int number, const Ending& ending) const;
  void show_progress();
  void audit();
  RunSummary summary() const;
  std::vector<StageResult> results_of(StageNumber stage) const;
  std::vector<StageResult> results_to_show() const;

  const SupervisorSetup setup_;
  const ReplicaTable replicas_;
  StartBarrier barrier_;
  SourceCounts sources_;
  Recovery recovery_;
  Watchdog watchdog_;
  std::int64_t next_look_ns_ = 0;
  State state_ = State::opening;
  ByReplica<Worker> workers_;
  RunOutcome outcome_;           // so far
  std::int64_t running_ns_ = 0;  // when everybody was ready
  std::int64_t done_ns_ = 0;     // when the last replica said it was done
  std::int64_t deadline_ns_ = 0;
  std::int64_t next_progress_ns_ = 0;
  std::uint64_t epochs_told_ = 0;
  std::deque<RunFigures> looks_;                             // for rates over the last seconds
  std::set<std::pair<std::string, std::string>> said_once_;  // stage, subject

  std::mutex outside_mutex_;
  std::string outside_failure_;
};

}  // namespace brigade
