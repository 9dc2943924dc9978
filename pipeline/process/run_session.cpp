#include "pipeline/process/run_session.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <new>
#include <system_error>
#include <thread>

#include "base/text.h"
#include "pipeline/plan/memory_budget.h"
#include "pipeline/plan/plan_json.h"
#include "pipeline/process/in_process.h"
#include "pipeline/process/kept_files.h"
#include "pipeline/process/pool_filler.h"
#include "pipeline/process/segments.h"
#include "pipeline/process/spawn.h"
#include "pipeline/process/worker_crew.h"

namespace brigade {
namespace {

// The soft limit is for programs that use select(); the hard one is what the machine allows.
void raise_descriptor_limit(const Plan& plan) {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = limit.rlim_cur + descriptors_needed(plan);
  limit.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::vector<std::string> own_environment() {
  std::vector<std::string> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    environment.emplace_back(*entry);
  }
  return environment;
}

}  // namespace

// Destroyed from the last member to the first: the spawner's thread after the workers it started,
// the memory after everybody who uses it.
struct RunSession::State {
  Plan plan;
  KeptFiles kept_files;
  std::unique_ptr<Segments> segments;
  std::unique_ptr<StopRequests> stops;
  std::unique_ptr<Spawner> spawner;
  std::unique_ptr<Crew> crew;
  ThreadCrew* threads = nullptr;  // the crew, under --in-process
  SystemClock clock;
  std::unique_ptr<Supervisor> supervisor;
  std::unique_ptr<PoolFiller> filler;
  std::unique_ptr<KeptFileKeeper> keeper;
  std::thread thread;
  RunOutcome outcome;

  Result<void> make_crew(const StageTypes& types, RunLines& lines, bool in_process);
  RunOutcome supervise(RunLines& lines);
  void finish_kept_files(RunLines& lines);
};

Result<void> RunSession::State::make_crew(const StageTypes& types, RunLines& lines,
                                          bool in_process) {
  if (in_process) {
    lines.line(LineKind::note,
               "--in-process: a thread per replica; `restart:`, `cpus:`, `env:` and `exec:` are "
               "ignored");
    BRIGADE_ASSIGN(auto made, ThreadCrew::create(plan, *segments, types));
    threads = made.get();
    crew = std::move(made);
    return {};
  }
  BRIGADE_ASSIGN(spawner, Spawner::create());
  BRIGADE_ASSIGN(crew, WorkerCrew::create(plan, *segments, types, *spawner, own_environment()));
  return {};
}

// Whatever is thrown, memory's lack above all, the workers are ended and collected, by the crew's
// destructor at the latest.
RunOutcome RunSession::State::supervise(RunLines& lines) {
  RunOutcome failed;
  try {
    RunOutcome ended = supervisor->run();
    finish_kept_files(lines);
    return ended;
  } catch (const std::bad_alloc&) {
    failed.failure = "out of memory; raise the limit on address space (`ulimit -v`)";
  } catch (const std::exception& exception) {
    failed.failure = concat("the supervisor failed: ", exception.what());
  }
  crew->end_all();
  lines.line(LineKind::error, failed.failure);
  return failed;
}

void RunSession::State::finish_kept_files(RunLines& lines) {
  for (const KeptFileKeeper::Line& line : keeper->finish())
    lines.line(line.warning ? LineKind::warning : LineKind::note, line.text);
  kept_files.clear();  // what has not been published goes
}

RunSession::RunSession() : state_(std::make_unique<State>()) {}

Result<std::unique_ptr<RunSession>> RunSession::start(Plan plan, const StageTypes& types,
                                                      RunLines& lines, const RunOptions& options) {
  std::unique_ptr<RunSession> session(new RunSession());
  State& state = *session->state_;
  state.plan = std::move(plan);
  raise_descriptor_limit(state.plan);
  BRIGADE_ASSIGN(state.kept_files, create_kept_files(state.plan, types));
  BRIGADE_ASSIGN(state.segments, Segments::create(state.plan, plan_to_json(state.plan, -1),
                                                  kept_fds(state.kept_files)));
  BRIGADE_ASSIGN(state.stops, StopRequests::create(options.handle_signals));
  BRIGADE_TRY(state.make_crew(types, lines, options.in_process));
  state.supervisor = std::make_unique<Supervisor>(SupervisorSetup{
      state.plan, types, state.segments->control(), *state.crew, *state.stops, lines, state.clock,
      options.exec_ns, options.quarantine_file ? quarantine_file_name(state.plan.name) : "",
      options.repair_rules});
  state.filler = std::make_unique<PoolFiller>(
      state.plan, *state.segments,
      [&state](std::string message) { state.supervisor->fail_from_outside(std::move(message)); });
  state.keeper = std::make_unique<KeptFileKeeper>(state.plan, *state.segments, state.kept_files);
  try {
    state.thread = std::thread([&state, &lines] { state.outcome = state.supervise(lines); });
  } catch (const std::system_error& exception) {
    return Error{concat("cannot start a thread: ", exception.what(),
                        "; raise the limit on processes (`ulimit -u`) or on "
                        "address space (`ulimit -v`)")};
  }
  return session;
}

RunSession::~RunSession() {
  if (state_->thread.joinable()) {
    stop(SIGTERM);
    stop(SIGTERM);
    state_->thread.join();
  }
}

const RunOutcome& RunSession::wait() {
  if (state_->thread.joinable()) state_->thread.join();
  return state_->outcome;
}

void RunSession::stop(int signal) { state_->stops->ask(signal); }

const Plan& RunSession::plan() const { return state_->plan; }

bool RunSession::abandoned() const {
  return state_->threads != nullptr && state_->threads->abandoned();
}

}  // namespace brigade
