#pragma once

// Runs a YAML text and compares it with the plain loop: every consumer's calls, every edge's audit,
// what `count` reports.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "pipeline/run/run_session.h"
#include "pipeline/run/supervisor/supervisor.h"
#include "pipeline/state/begin_run.h"
#include "pipeline/state/position.h"
#include "tests/conformance/disturber.h"
#include "tests/conformance/exec_host.h"
#include "tests/conformance/feeds.h"
#include "tests/conformance/plain/plain_loop.h"
#include "tests/support/keeping_lines.h"
#include "tests/support/temporary_folder.h"

namespace brigade::conformance {

/// In a YAML text, where a `record` writes: params: {folder: "${RECORDS}"}.
inline constexpr const char* kRecords = "${RECORDS}";

/// Under the sanitizers processes start slowly: what runs as threads, too, then runs as processes
/// only here and there.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadsOnly = true;
#else
inline constexpr bool kThreadsOnly = false;
#endif

/// How many slots they have: as planned, which a short line does not fill, or as few as `buffers:`
/// can ask for, so that they go round and writers wait for readers.
enum class Rings : std::uint8_t { as_planned, smallest };

class LineRun {
 public:
  LineRun();

  /// Loads and plans; what is wrong with it, or nothing. `hold`: in the place of each `record`
  /// stands an application that holds so many batches.
  /// `inputs`: producers in whose place an application stands, which this program feeds.
  std::string prepare(const std::string& yaml, std::uint64_t hold = 0,
                      const std::set<std::string>& inputs = {}, Rings rings = Rings::as_planned);
  /// After prepare(): what can be is a program of `exec:` (exec_host.h); how many.
  int make_programs(bool wrong) { return conformance::make_programs(plan_, wrong); }
  /// After prepare(). Ends the program, naming the graph, when a run hangs.
  void run(bool in_process);
  /// After prepare(), as processes; every stage is started again as often as it takes.
  void run(const Disturbance& disturbance);
  int kills() const { return disturbed_.kills; }
  const Disturbed& disturbed() const { return disturbed_; }
  /// After prepare(), as processes, of a graph with `checkpoint:`: resumes from the run before, if
  /// there was one, and is asked to stop a while after its first recorded call; `at_once`: without
  /// draining.
  struct Part {
    bool resume = false;
    std::chrono::microseconds stop_after{0};
    bool at_once = false;
    bool in_process = false;
  };
  void run(const Part& part);
  /// After prepare(), of a graph whose consumers or producers are applications: read by this
  /// program, which holds what it may and lets go in any order, on several threads, and fed by it,
  /// slots submitted likewise. `disturbance`: of processes.
  void run_as_program(bool in_process, std::uint64_t seed, const Disturbance& disturbance = {});

  /// The same, from the state of the part before, if there was one.
  struct ProgramPart {
    bool in_process = false;
    std::uint64_t seed = 0;
    std::int64_t batches = 0;  ///< of all outputs; then a state is taken; 0: to the end
    std::function<void(RunState&)> change = {};  ///< of that state
  };
  void run_as_program(const ProgramPart& part);
  /// What these gave of epochs that the next part began again.
  std::uint64_t given_again() const { return given_again_; }

  const ValidGraph& graph() const { return *graph_; }
  const Plan& plan() const { return plan_; }
  /// What the program gives to its inputs: the plain loop's, too, unless it is changed in between.
  Feeds& feeds() { return feeds_; }
  const RunOutcome& outcome() const { return outcome_; }
  std::vector<Events> records(const Expected& consumer) const;
  /// What a consumer reported under this name; 0: nothing, or several replicas cannot say.
  std::uint64_t reported(const std::string& stage, const std::string& name) const;

  /// What differs from the plain loop; empty: nothing.
  /// `repeats`: consumers may see calls again, after they were killed.
  std::string difference_to(const PlainLoop& plain, bool repeats = false) const;

 private:
  std::string load(const std::string& yaml);
  void make_applications(std::uint64_t hold);
  std::set<std::string> spared_of(const Disturbance& disturbance);
  std::string go_on_from(const std::string& bytes, const ProgramPart& part);
  /// Null: it did not start, as the outcome says.
  std::unique_ptr<RunSession> start(const RunOptions& options, ResumePoint from);
  std::unique_ptr<RunSession> start(const RunOptions& options) {
    return start(options, from_the_beginning(plan_, types_));
  }
  bool records() const;
  std::uint64_t recorded_bytes() const;

  std::string yaml_;
  StageTypes types_;
  TemporaryFolder folder_;
  KeepingLines lines_;
  std::optional<ValidGraph> graph_;
  Plan plan_;
  Feeds feeds_;
  RunOutcome outcome_;
  Disturbed disturbed_;
  std::map<std::string, Events> read_;  // by application
  std::string state_;                   // of the last part
  std::uint64_t given_again_ = 0;
};

/// Every choice of producers in whose place an application may stand.
std::vector<std::set<std::string>> choices_of_inputs(const std::string& yaml);

/// What differs, or what went wrong before; empty when all is as it must be.
std::string differs_from_plain_loop(const std::string& yaml, bool in_process,
                                    Rings rings = Rings::as_planned);

/// Of the audit alone: the audit against the plain loop's edges.
std::string audit_difference(const std::vector<ExpectedEdge>& expected,
                             const std::vector<NamedEdgeAudit>& audits);

}  // namespace brigade::conformance
