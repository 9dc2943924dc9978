#pragma once

// The supervisor: starts the crew, lets the line begin once everybody is ready, watches, stops,
// audits. It decides; the crew acts and the lines show. One thread runs it from start to end:
//
//   opening -> running -> (asked to stop -> stopping -> draining) -> everybody has ended
//
// A replica that dies is repaired and, as its `restart:` says, started again under its number,
// while the others go on; or they carry on without it. One that fails or disagrees, or whose
// restarts are spent, ends the run at once: everybody else is ended, and one line says who and why.
// A sample that keeps ending its worker is put into quarantine before its task is given out again.
// A first stop request lets the sources finish and the line run dry, for at most the plan's
// `drain`; a second one ends it at once.

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "pipeline/process/crew.h"
#include "pipeline/process/death.h"
#include "pipeline/process/quarantine_file.h"
#include "pipeline/process/recovery.h"
#include "pipeline/process/run_lines.h"
#include "pipeline/process/signals.h"
#include "pipeline/process/source_counts.h"
#include "pipeline/process/stall_watch.h"
#include "pipeline/process/start_barrier.h"
#include "pipeline/stats/summary.h"
#include "stages/api/stage_types.h"

namespace brigade {

struct RunOutcome {
  std::string failure;  ///< one line; empty when the run did what it should
  int signal = 0;       ///< of the stop request that ended it; 0: it ran to its end
  RunSummary summary;   ///< books and results only when everybody ended by itself
  bool ended_by_itself = false;
  bool resume = false;            ///< ended, and repaired, to go on from the last checkpoint
  std::int64_t resume_at_ns = 0;  ///< not before, on the supervisor's clock
};

/// 0, 1, or 128 + signal.
int exit_code(const RunOutcome& outcome);

/// What the supervisor works with; everything outlives it.
struct SupervisorSetup {
  const Plan& plan;
  const StageTypes& types;
  Control<SystemPolicy>& control;
  Crew& crew;
  StopRequests& stops;
  RunLines& lines;
  const Clock& clock;
  std::int64_t exec_ns = 0;     ///< CLOCK_MONOTONIC when the program started
  std::string quarantine_file;  ///< empty: none is written
  RepairRules repair_rules;     ///< all of them, except in tests of the tests
  RecoveryBooks& books;
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

  struct Member {
    int stage = 0;
    int replica = 0;     // of the stage
    bool ready = false;  // at least once
    bool done = false;
    bool ended = false;
    bool restarted = false;
    std::optional<std::int64_t> restart_ns;  // when to start it again
    std::deque<std::string> last_lines;
    ReplicaResults results;
  };

  void wait();
  int timeout_ms() const;
  void take_stops();
  void on_stop(int signal);
  void on_event(const CrewEvent& event);
  void on(int number, const Ready& ready);
  void on(int number, const Failed& failed);
  void on(int number, const Said& said);
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
  void fail(const std::string& message);
  void end_everybody();
  Death death_of(int number, const Ending& ending) const;
  void show_progress();
  void settle();
  void check_books();
  RunOutcome outcome() const;
  std::vector<StageResult> results_of(int stage) const;
  std::vector<StageResult> results_to_show() const;
  const PlanStage& stage_of(const Member& member) const;
  bool ended_by_itself() const { return state_ != State::ending; }

  const SupervisorSetup setup_;
  StartBarrier barrier_;
  SourceCounts sources_;
  Recovery recovery_;
  StallWatch stall_watch_;
  std::int64_t next_look_ns_ = 0;
  QuarantineFile quarantine_file_;
  State state_ = State::opening;
  std::vector<Member> members_;  // by number in the graph
  std::string failure_;
  int signal_ = 0;
  bool resume_ = false;  // once everybody has ended
  std::int64_t resume_at_ns_ = 0;
  std::int64_t running_ns_ = 0;  // when everybody was ready
  std::int64_t done_ns_ = 0;     // when the last replica said it was done
  std::int64_t deadline_ns_ = 0;
  std::int64_t next_progress_ns_ = 0;
  std::deque<RunFigures> looks_;  // for rates over the last seconds

  std::mutex outside_mutex_;
  std::string outside_failure_;
};

}  // namespace brigade
