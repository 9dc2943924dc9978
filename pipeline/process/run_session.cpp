#include "pipeline/process/run_session.h"

#include <poll.h>
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
#include "pipeline/plan/resume.h"
#include "pipeline/process/in_process.h"
#include "pipeline/process/kept_files.h"
#include "pipeline/process/pool_filler.h"
#include "pipeline/process/positions_writer.h"
#include "pipeline/process/resume_point.h"
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

/// The last of several attempts, with what the earlier ones add to its summary.
RunOutcome add_earlier(RunOutcome last, const std::vector<RunOutcome>& earlier) {
  for (const RunOutcome& one : earlier) {
    last.summary.seconds += one.summary.seconds;
    for (std::size_t s = 0; s < one.summary.figures.stages.size(); ++s) {
      StageFigures& stage = last.summary.figures.stages[s];
      stage.restarts += one.summary.figures.stages[s].restarts;
      stage.skipped += one.summary.figures.stages[s].skipped;
    }
  }
  if (!earlier.empty() && earlier.front().summary.first_sample_seconds)
    last.summary.first_sample_seconds = earlier.front().summary.first_sample_seconds;
  return last;
}

}  // namespace

// What one run takes from the machine; a run that goes on from a checkpoint has several, one after
// another. Destroyed from the last member to the first: the spawner's thread after the workers it
// started, the memory after everybody who uses it.
struct RunSession::Attempt {
  Plan plan;
  KeptFiles kept_files;
  std::unique_ptr<Segments> segments;
  std::unique_ptr<Spawner> spawner;
  std::unique_ptr<Crew> crew;
  ThreadCrew* threads = nullptr;  // the crew, under --in-process
  std::unique_ptr<Supervisor> supervisor;
  std::unique_ptr<PoolFiller> filler;
  std::unique_ptr<KeptFileKeeper> keeper;
  std::unique_ptr<PositionsWriter> positions;

  Result<void> make_crew(const StageTypes& types, bool in_process);
  RunOutcome supervise(RunLines& lines);
  void finish_kept_files(RunLines& lines);
};

struct RunSession::State {
  State(Plan given, const StageTypes& stage_types, RunLines& run_lines, const RunOptions& asked)
      : plan(std::move(given)), types(stage_types), lines(run_lines), options(asked), books(plan) {}

  Plan plan;   // as it was given: each attempt has its own
  Plan fresh;  // the same without a past
  const StageTypes& types;
  RunLines& lines;
  const RunOptions options;
  SystemClock clock;
  RecoveryBooks books;
  std::unique_ptr<StopRequests> stops;
  std::unique_ptr<Attempt> attempt;
  std::thread thread;
  RunOutcome outcome;

  Result<std::unique_ptr<Attempt>> prepare(Plan next);
  RunOutcome run();
  void wait_until(std::int64_t ns);
  Result<void> go_on();
};

Result<void> RunSession::Attempt::make_crew(const StageTypes& types, bool in_process) {
  if (in_process) {
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
RunOutcome RunSession::Attempt::supervise(RunLines& lines) {
  RunOutcome failed;
  try {
    RunOutcome ended = supervisor->run();
    finish_kept_files(lines);
    if (!ended.resume) positions->finish();
    positions.reset();
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

void RunSession::Attempt::finish_kept_files(RunLines& lines) {
  for (const KeptFileKeeper::Line& line : keeper->finish())
    lines.line(line.warning ? LineKind::warning : LineKind::note, line.text);
  kept_files.clear();  // what has not been published goes
}

Result<std::unique_ptr<RunSession::Attempt>> RunSession::State::prepare(Plan next) {
  auto made = std::make_unique<Attempt>();
  made->plan = std::move(next);
  raise_descriptor_limit(made->plan);
  BRIGADE_ASSIGN(made->kept_files, create_kept_files(made->plan, types));
  BRIGADE_ASSIGN(made->segments, Segments::create(made->plan, plan_to_json(made->plan, -1),
                                                  kept_fds(made->kept_files)));
  BRIGADE_TRY(made->make_crew(types, options.in_process));
  made->supervisor = std::make_unique<Supervisor>(SupervisorSetup{
      made->plan, types, made->segments->control(), *made->crew, *stops, lines, clock,
      options.exec_ns, options.quarantine_file ? quarantine_file_name(made->plan.name) : "",
      options.repair_rules, books});
  made->filler = std::make_unique<PoolFiller>(
      made->plan, *made->segments, [supervisor = made->supervisor.get()](std::string message) {
        supervisor->fail_from_outside(std::move(message));
      });
  made->keeper = std::make_unique<KeptFileKeeper>(made->plan, *made->segments, made->kept_files);
  BRIGADE_ASSIGN(made->positions,
                 PositionsWriter::start(made->plan, made->segments->control(), lines));
  return made;
}

/// Attempts until one ends for another reason than the death of a consumer that saves.
RunOutcome RunSession::State::run() {
  std::vector<RunOutcome> earlier;
  for (;;) {
    RunOutcome ended = attempt->supervise(lines);
    if (!ended.resume) return add_earlier(std::move(ended), earlier);
    wait_until(ended.resume_at_ns);
    earlier.push_back(std::move(ended));
    if (const auto next = go_on(); !next) {
      RunOutcome failed = add_earlier(std::move(earlier.back()), {});
      failed.resume = false;
      failed.failure = concat("the run cannot go on from its checkpoint: ", next.error().message);
      lines.line(LineKind::error, failed.failure);
      return failed;
    }
  }
}

/// A stop ends the wait; the next supervisor takes it.
void RunSession::State::wait_until(std::int64_t ns) {
  const std::int64_t left_ms = (ns - clock.now_ns()) / 1'000'000;
  pollfd stop{stops->fd(), POLLIN, 0};
  if (left_ms > 0) poll(&stop, 1, static_cast<int>(std::min<std::int64_t>(left_ms, 60'000)));
}

Result<void> RunSession::State::go_on() {
  Plan next = fresh;
  BRIGADE_TRY(resume_after_death(next, attempt->plan, attempt->segments->control()));
  attempt.reset();  // its memory first
  BRIGADE_ASSIGN(attempt, prepare(std::move(next)));
  return {};
}

RunSession::RunSession() = default;

Result<std::unique_ptr<RunSession>> RunSession::start(Plan plan, const StageTypes& types,
                                                      RunLines& lines, const RunOptions& options) {
  std::unique_ptr<RunSession> session(new RunSession());
  session->state_ = std::make_unique<State>(std::move(plan), types, lines, options);
  State& state = *session->state_;
  if (state.plan.run_id.empty()) prepare_checkpoints(state.plan, types);
  state.fresh = state.plan;
  forget_past(state.fresh);
  BRIGADE_ASSIGN(state.stops, StopRequests::create(options.handle_signals));
  if (options.in_process)
    lines.line(LineKind::note,
               "--in-process: a thread per replica; `restart:`, `cpus:`, `env:` and `exec:` are "
               "ignored");
  BRIGADE_ASSIGN(state.attempt, state.prepare(state.plan));
  try {
    state.thread = std::thread([&state] { state.outcome = state.run(); });
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
  const Attempt* attempt = state_->attempt.get();
  return attempt != nullptr && attempt->threads != nullptr && attempt->threads->abandoned();
}

}  // namespace brigade
