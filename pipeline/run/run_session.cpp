#include "pipeline/run/run_session.h"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <brigade/text.h>
#include "base/clock.h"
#include "base/thread.h"
#include "pipeline/run/run_attempt.h"
#include "pipeline/state/begin_run.h"
#include "pipeline/state/run_state.h"

namespace brigade {
namespace {

/// Where the outputs of the program stand.
ByStage<ByQueue<std::uint64_t>> levels_of(const RunAttempt& attempt) {
  ByStage<ByQueue<std::uint64_t>> levels(attempt.plan.stages.size());
  for (const auto& output : attempt.outputs)
    levels[attempt.plan.stages.number_of(output->stage())] = output->handed_out();
  return levels;
}

/// The last of several attempts, with what the earlier ones add to its summary.
RunOutcome add_earlier(RunOutcome last, const std::vector<RunOutcome>& earlier) {
  for (const RunOutcome& one : earlier) {
    last.summary.seconds += one.summary.seconds;
    for (const StageNumber s : one.summary.figures.stages.numbers()) {
      StageFigures& stage = last.summary.figures.stages[s];
      stage.restarts += one.summary.figures.stages[s].restarts;
      stage.skipped += one.summary.figures.stages[s].skipped;
    }
  }
  if (!earlier.empty()) last.summary.start_seconds = earlier.front().summary.start_seconds;
  if (!earlier.empty() && earlier.front().summary.first_sample_seconds)
    last.summary.first_sample_seconds = earlier.front().summary.first_sample_seconds;
  return last;
}

/// The last steps for shared tensors after a run has ended: looks at what lies beside their parts,
/// and saves those of a run that has not failed. Every error is reported, and makes the run a
/// failed one.
RunOutcome finish_shared(const SharedTensors& shared, RunOutcome ended, RunOutput& lines) {
  std::vector<std::string> wrong = shared.written_beside();
  if (wrong.empty() && ended.failure.empty())
    if (const auto saved = shared.save(); !saved) wrong.push_back(saved.error().message);
  for (const std::string& line : wrong) lines.error(line);
  if (wrong.empty()) return ended;
  ended.end = RunEnd::failed;
  if (ended.failure.empty()) ended.failure = wrong.front();
  return ended;
}

}  // namespace

struct RunSession::State {
  State(Plan given, StageTypes stage_types, RunOutput& run_output, const RunOptions& asked)
      : plan(std::move(given)),
        types(std::move(stage_types)),
        lines(run_output),
        options(asked),
        tallies(plan) {}

  const Plan plan;
  const StageTypes types;
  RunOutput& lines;
  const RunOptions options;
  SystemClock clock;
  RecoveryTallies tallies;
  std::unique_ptr<StopRequests> stops;
  std::shared_ptr<SharedTensors> shared;
  std::unique_ptr<RunAttempt> attempt;
  std::mutex joining;
  std::thread thread;
  RunOutcome outcome;
  std::atomic<std::uint32_t> over{0};  // 1: `outcome` is there

  /// `interrupted`: of the program, whose thread this is; later attempts are made on one of ours.
  Result<std::unique_ptr<RunAttempt>> prepare(ResumePoint from, const Interrupted& interrupted);
  void listen(RunAttempt& attempt);
  RunOutcome run();
  RunOutcome run_attempts();
  void wait_until(std::int64_t ns);
  Result<void> go_on();
};

Result<std::unique_ptr<RunAttempt>> RunSession::State::prepare(ResumePoint from,
                                                               const Interrupted& interrupted) {
  auto made = std::make_unique<RunAttempt>(plan, std::move(from));
  BRIGADE_TRY(made->create_memory(types, shared, options));
  BRIGADE_TRY(made->make_worker_pool(types, options, *stops, interrupted));
  if (options.program) BRIGADE_TRY(made->open_program(options.interrupted));
  QuarantineFile list(options.quarantine_file ? quarantine_file_name(plan.name) : "");
  BRIGADE_ASSIGN(made->disk, DiskWriter::start(plan, made->resume, made->segments().control(),
                                               std::move(list), lines, shared.get()));
  made->supervisor = std::make_unique<Supervisor>(SupervisorSetup{
      plan, made->resume, types, made->segments().control(), *made->worker_pool, *stops, lines,
      clock, options.exec_ns, *made->disk, options.repair_rules, tallies});
  made->filler = std::make_unique<Prefault>(
      plan, made->segments(), [supervisor = made->supervisor.get()](std::string message) {
        supervisor->fail_from_outside(std::move(message));
      });
  if (made->program) listen(*made);
  BRIGADE_ASSIGN(made->cache_publisher,
                 CacheFilePublisher::start(plan, made->segments().control(),
                                           made->segments().slot_rings(), made->cache_files));
  return made;
}

/// Where nobody else reads, a program that has closed its outputs is done with the graph.
void RunSession::State::listen(RunAttempt& made) {
  const auto others =
      std::count_if(plan.stages.begin(), plan.stages.end(), [](const PlanStage& stage) {
        return stage.kind == StageKind::consumer && !stage.is_application();
      });
  ProgramEnds::Listener listener;
  listener.failed = [supervisor = made.supervisor.get()](std::string message) {
    supervisor->fail_from_outside(std::move(message));
  };
  listener.unread = [this](bool at_once) {
    stops->ask(SIGTERM);
    if (at_once) stops->ask(SIGTERM);
  };
  listener.told = [this](const Event& event) { lines.tell(event); };
  made.program->listen(std::move(listener), static_cast<int>(made.outputs.size() + others));
}

RunOutcome RunSession::State::run() {
  RunOutcome ended = run_attempts();
  lines.tell({.kind = EventKind::ended,
              .level = EventLevel::debug,
              .signal = ended.signal,
              .exit_code = exit_code(ended),
              .samples = ended.summary.figures.samples,
              .duration_ns = static_cast<std::int64_t>(ended.summary.seconds * 1e9),
              .message = ended.failure});
  return ended;
}

/// Attempts until one ends for another reason than the death of a consumer that saves.
RunOutcome RunSession::State::run_attempts() {
  std::vector<RunOutcome> earlier;
  for (;;) {
    RunOutcome ended = attempt->supervise(lines);
    if (ended.end != RunEnd::resumes)
      return finish_shared(*shared, add_earlier(std::move(ended), earlier), lines);
    wait_until(ended.resume_at_ns);
    earlier.push_back(std::move(ended));
    if (const auto next = go_on(); !next) {
      RunOutcome failed = add_earlier(std::move(earlier.back()), {});
      failed.end = RunEnd::failed;
      failed.failure = concat("the run cannot resume from its checkpoint: ", next.error().message);
      lines.error(failed.failure);
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
  BRIGADE_ASSIGN(ResumePoint next,
                 resume_after_death(plan, attempt->resume, attempt->segments().control()));
  attempt.reset();  // its memory first
  BRIGADE_ASSIGN(attempt, prepare(std::move(next), {}));
  return {};
}

RunSession::RunSession() = default;

Result<std::unique_ptr<RunSession>> RunSession::start(PlannedRun run, StageTypes types,
                                                      RunOutput& lines, const RunOptions& options) {
  std::unique_ptr<RunSession> session(new RunSession());
  session->state_ = std::make_unique<State>(std::move(run.plan), std::move(types), lines, options);
  State& state = *session->state_;
  BRIGADE_ASSIGN(state.stops, StopRequests::create(options.handle_signals));
  if (options.in_process)
    lines.note("--in-process: a thread per replica; `restart:`, `cpus:` and `env:` are ignored");
  BRIGADE_ASSIGN(state.shared, SharedTensors::create(state.plan, run.resume, is_to_poison()));
  BRIGADE_ASSIGN(state.attempt, state.prepare(std::move(run.resume), options.interrupted));
  BRIGADE_ASSIGN(state.thread, start_thread([&state] {
                   state.outcome = state.run();
                   state.over.store(1, std::memory_order_release);  // pairs with the waiters' loads
                   SystemPolicy::wake(state.over);
                 }));
  return session;
}

RunSession::~RunSession() {
  if (state_ == nullptr) return;
  if (state_->thread.joinable()) {
    stop(SIGTERM);
    stop(SIGTERM);
    state_->thread.join();
  }
  // The program may hold outputs and batches for longer.
  if (state_->attempt && state_->attempt->program) state_->attempt->program->listen({}, 0);
}

const RunOutcome& RunSession::wait() {
  const std::lock_guard lock(state_->joining);
  if (state_->thread.joinable()) state_->thread.join();
  return state_->outcome;
}

const RunOutcome* RunSession::wait_unless_interrupted() {
  InterruptibleSleep sleep(state_->options.interrupted);
  while (state_->over.load(std::memory_order_acquire) == 0) {
    if (sleep.interrupted()) return nullptr;
    sleep(state_->over, 0);
  }
  SystemPolicy::wake(state_->over);  // the next of those who wait: each wakes one
  return &wait();
}

bool RunSession::is_interrupted() const {
  const Interrupted& asked = state_->options.interrupted;
  return asked && state_->over.load(std::memory_order_acquire) == 0 && asked();
}

void RunSession::stop(int signal) { state_->stops->ask(signal); }

std::shared_ptr<ProgramEnds> RunSession::program() const { return state_->attempt->program; }

std::shared_ptr<OutputQueue> RunSession::output(std::string_view stage) const {
  for (const auto& output : state_->attempt->outputs)
    if (output->stage().name == stage) return output;
  return nullptr;
}

std::shared_ptr<InputQueue> RunSession::input(std::string_view stage) const {
  for (const auto& input : state_->attempt->inputs)
    if (input->stage().name == stage) return input;
  return nullptr;
}

std::shared_ptr<const RunMemory> RunSession::memory() const { return state_->attempt->memory; }

Result<std::string> RunSession::state(std::uint64_t first_epoch) const {
  const RunAttempt& attempt = *state_->attempt;
  return state_of_run(attempt.plan, attempt.resume, attempt.segments().control(),
                      levels_of(attempt), first_epoch);
}

std::string RunSession::mark() const {
  std::string mark;
  for (const auto& output : state_->attempt->outputs)
    for (const std::uint64_t level : output->handed_out())
      mark.append(reinterpret_cast<const char*>(&level), sizeof(level));
  return mark;
}

Result<std::string> RunSession::state_at_mark(std::string_view mark) const {
  const RunAttempt& attempt = *state_->attempt;
  auto levels = levels_of(attempt);
  bool fits = true;
  for (const auto& output : attempt.outputs) {
    for (std::uint64_t& level : levels[attempt.plan.stages.number_of(output->stage())]) {
      std::uint64_t marked = kNever;
      if (mark.size() >= sizeof(marked)) std::memcpy(&marked, mark.data(), sizeof(marked));
      fits = fits && marked <= level;
      level = marked;
      mark.remove_prefix(std::min(mark.size(), sizeof(marked)));
    }
  }
  if (!fits || !mark.empty()) return Error{"expected a mark of this run, from mark()"};
  return state_of_run(attempt.plan, attempt.resume, attempt.segments().control(), levels);
}

std::string RunSession::stats_json() const {
  const RunAttempt& attempt = *state_->attempt;
  RunSummary summary;
  summary.figures =
      read_figures(attempt.plan, attempt.resume, attempt.segments().control(), monotonic_ns());
  if (const std::int64_t first = summary.figures.first_sample_ns; first != 0) {
    summary.seconds = static_cast<double>(summary.figures.now_ns - first) / 1e9;
    summary.first_sample_seconds = static_cast<double>(first - state_->options.exec_ns) / 1e9;
  }
  return summary_json(summary, "running", "");
}

Result<SharedTensor> RunSession::shared(std::string_view name) const {
  return state_->shared->find(name);
}

const Plan& RunSession::plan() const { return state_->plan; }

bool RunSession::abandoned() const {
  const RunAttempt* attempt = state_->attempt.get();
  return attempt != nullptr && attempt->threads != nullptr && attempt->threads->abandoned();
}

}  // namespace brigade
