#include "pipeline/run/supervisor/supervisor.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <csignal>

#include <brigade/text.h>
#include "base/units.h"
#include "pipeline/records/source_id.h"
#include "pipeline/report/counters.h"
#include "pipeline/report/progress.h"
#include "pipeline/run/supervisor/drain_points.h"
#include "pipeline/worker/crash_handler.h"
#include "stages/detail/exec_stage.h"
#include "stages/detail/fused_stage.h"
#include "transports/stop.h"

namespace brigade {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kAcknowledgeEveryNs = 2 * kMillisecond;  // acks are words, nobody rings

}  // namespace

int exit_code(const RunOutcome& outcome) {
  if (!outcome.failure.empty()) return 1;
  return outcome.signal == 0 ? 0 : 128 + outcome.signal;
}

std::string summary_json(const RunOutcome& outcome) {
  const int code = exit_code(outcome);
  return summary_json(outcome.summary,
                      code == 0   ? "done"
                      : code == 1 ? "failed"
                                  : "stopped",
                      outcome.failure);
}

Supervisor::Supervisor(const SupervisorSetup& setup)
    : setup_(setup),
      replicas_(setup.plan),
      barrier_(setup.plan),
      sources_(setup.plan),
      recovery_(setup.plan, setup.control, setup.tallies, setup.repair_rules),
      watchdog_(setup.plan, setup.control),
      workers_(replicas_.size()) {}

RunOutcome Supervisor::run() {
  next_progress_ns_ = setup_.clock.now_ns() + setup_.lines.progress_every_ns();
  next_look_ns_ = setup_.clock.now_ns() + watchdog_.every_ns();
  for (const int number : workers_.numbers()) watchdog_.starts(number, setup_.clock.now_ns());
  take_stops();  // those of before: nobody is started then
  if (state_ != State::ending)
    if (auto started = setup_.worker_pool.start(); !started)
      end(RunEnd::failed, started.error().message);
  while (setup_.worker_pool.running() > 0 || restarts_pending()) {
    wait();
    for (const WorkerEvent& event : setup_.worker_pool.take_events()) on_event(event);
    setup_.worker_pool.collect();
    take_stops();
    step();
    show_progress();
  }
  audit();
  outcome_.summary = summary();
  return outcome_;
}

void Supervisor::fail_from_outside(std::string message) {
  {
    const std::lock_guard lock(outside_mutex_);
    outside_failure_ = std::move(message);
  }
  setup_.stops.ask(StopRequests::kWakeUp);
}

int Supervisor::timeout_ms() const {
  const std::int64_t now = setup_.clock.now_ns();
  std::int64_t next = INT64_MAX;
  if (setup_.lines.progress_every_ns() > 0) next = next_progress_ns_;
  if (state_ == State::stopping) next = std::min(next, now + kAcknowledgeEveryNs);
  if (state_ == State::stopping || state_ == State::draining) next = std::min(next, deadline_ns_);
  if (state_ != State::ending) next = std::min(next, next_look_ns_);
  for (const Worker& worker : workers_) {
    if (worker.restart_ns) next = std::min(next, *worker.restart_ns);
  }
  if (next == INT64_MAX) return -1;
  const std::int64_t left = std::max<std::int64_t>(next - now, 0);
  return static_cast<int>(std::min<std::int64_t>((left + kMillisecond - 1) / kMillisecond, 60'000));
}

void Supervisor::wait() {
  pollfd fds[] = {{setup_.worker_pool.event_fd(), POLLIN, 0}, {setup_.stops.fd(), POLLIN, 0}};
  poll(fds, 2, timeout_ms());
}

void Supervisor::take_stops() {
  std::vector<int> signals;
  while (const auto signal = setup_.stops.take()) signals.push_back(*signal);
  // What failed was said before who said it went on to stop the run.
  std::string outside;
  {
    const std::lock_guard lock(outside_mutex_);
    outside.swap(outside_failure_);
  }
  if (!outside.empty()) end(RunEnd::failed, outside);
  for (const int signal : signals)
    if (signal != StopRequests::kWakeUp) on_stop(signal);
}

void Supervisor::on_stop(int signal) {
  const bool resumes = outcome_.end == RunEnd::resumes;
  if (outcome_.signal == 0 && (resumes || state_ != State::ending)) outcome_.signal = signal;
  if (resumes) outcome_.end = RunEnd::stopped;
  if (state_ == State::ending) return;
  if (state_ != State::running) {
    tell_stop(signal, state_ == State::opening ? "stopped before the run started"
                                               : "ended immediately, as requested");
    return end(RunEnd::stopped);
  }
  const auto drain = std::chrono::nanoseconds(setup_.plan.drain_ns);
  tell_stop(signal, concat("stopping: the pipeline drains for at most ", format_duration(drain),
                           "; a second signal ends it immediately"));
  ask_stop(setup_.control);
  state_ = State::stopping;
  deadline_ns_ = setup_.clock.now_ns() + setup_.plan.drain_ns;
}

void Supervisor::step() {
  restart_due();
  step_stop();
  look_for_stalls();
}

void Supervisor::step_stop() {
  if (state_ == State::stopping &&
      all_acknowledged<SystemPolicy>(setup_.control,
                                     [this](int replica) { return workers_[replica].ended; })) {
    const ByIndexSpace<std::uint64_t> ends = drain_points(setup_.plan, setup_.control);
    for (const IndexSpaceNumber d : ends.numbers()) lower_end_to(setup_.control, d, ends[d]);
    state_ = State::draining;
  }
  if (state_ != State::stopping && state_ != State::draining) return;
  if (setup_.clock.now_ns() < deadline_ns_) return;
  const auto drain = std::chrono::nanoseconds(setup_.plan.drain_ns);
  setup_.lines.warn(
      concat("the pipeline did not drain within ", format_duration(drain), " (`drain:`): ended"));
  end(RunEnd::stopped);
}

void Supervisor::look_for_stalls() {
  const std::int64_t now = setup_.clock.now_ns();
  if (state_ == State::ending || now < next_look_ns_) return;
  next_look_ns_ = now + watchdog_.every_ns();
  if (state_ != State::opening) tell_epochs();
  for (const PlanStage& stage : setup_.plan.stages)  // a program looks whether anything moves
    if (stage.is_application()) ring(setup_.control.doorbells[stage.first_replica]);
  for (const Watchdog::Finding& finding :
       watchdog_.look(now, [this](int number) { return setup_.worker_pool.condition(number); })) {
    tell_stall(finding);
    if (finding.act == Watchdog::Finding::Act::abort)
      setup_.worker_pool.signal(finding.number, SIGABRT);
    if (finding.act == Watchdog::Finding::Act::kill)
      setup_.worker_pool.signal(finding.number, SIGKILL);
  }
}

void Supervisor::on_event(const WorkerEvent& event) {
  std::visit([&](const auto& what) { on(event.replica, what); }, event.what);
}

void Supervisor::on(int number, const Ready& ready) {
  workers_[number].ready = true;
  watchdog_.ready(number);
  if (workers_[number].restarts > 0) tell_restart(number);
  if (state_ != State::opening) return;
  const PlanStage& stage = replicas_.stage(number);
  barrier_.ready(number, ready.source_size, found_samples(setup_.plan, setup_.control, stage));
  sources_.ready(number, ready.source_size, ready.skipped);
  if (barrier_.complete()) begin();
}

void Supervisor::begin() {
  const auto starts = barrier_.starts();
  if (!starts) return end(RunEnd::failed, starts.error().message);
  for (const IndexSpaceStart& start : *starts) {
    set_end(setup_.control, start.index_space, start.samples, start.period,
            index_space_epochs(setup_.plan, start.index_space));
  }
  sources_.begin(*starts);
  sources_.say(setup_.lines);
  epochs_told_ = figures_now().epochs;  // of a run that resumes
  begin_running(setup_.control);
  running_ns_ = setup_.clock.now_ns();
  state_ = State::running;
  setup_.lines.tell({.kind = EventKind::running, .level = EventLevel::debug});
}

void Supervisor::on(int number, const Failed& failed) {
  FailureReport death = death_of(number, {});
  death.message = failed.message;
  end(RunEnd::failed, event_of(death));
}

void Supervisor::on(int number, const Logged& said) {
  const std::string& stage = replicas_.stage(number).name;
  if (!said.once.empty() && !said_once_.emplace(stage, said.once).second) return;
  tell_line(number, EventKind::logged, said.line);
}

void Supervisor::on(int number, const Reported& reported) {
  workers_[number].results.values[reported.name] = reported.value;
}

void Supervisor::on(int number, const Done&) {
  workers_[number].done = true;
  done_ns_ = setup_.clock.now_ns();
}

void Supervisor::on(int number, const Printed& printed) {
  Worker& worker = workers_[number];
  if (!printed.line.starts_with(kBacktracePrefix)) worker.last_lines.push_back(printed.line);
  if (worker.last_lines.size() > kLastLinesKept) worker.last_lines.pop_front();
  tell_line(number, EventKind::printed, printed.line);
}

void Supervisor::on(int number, const Ended& ended) {
  Worker& worker = workers_[number];
  worker.ended = true;
  // Who was ended with everybody may have been in the middle of a task, whatever it said.
  if (worker.done && ended.ending.clean() && state_ != State::ending) return;
  const std::int64_t now = setup_.clock.now_ns();
  follow(number, recovery_.died(dead_replica(number), death_of(number, ended.ending), now));
}

void Supervisor::on(int number, const NotStarted& failed) {
  Worker& worker = workers_[number];
  worker.ended = true;
  if (state_ == State::ending) return;
  if (worker.restarts == 0) {  // what was too little will not be more soon
    Event event = event_about(number);
    event.kind = EventKind::not_started;
    event.level = EventLevel::error;
    event.next = EventNext::fail;
    event.message = failed.message;
    return end(RunEnd::failed, event);
  }
  live_counters(setup_.control, number).restarts.fetch_sub(1);
  const std::int64_t now = setup_.clock.now_ns();
  follow(number, recovery_.not_started(dead_replica(number), failed.message, now));
}

DeadReplica Supervisor::dead_replica(int number) const {
  const PlanStage& stage = replicas_.stage(number);
  const auto first = workers_.begin() + stage.first_replica;
  const bool others_left = std::any_of(first, first + stage.replicas, [](const Worker& other) {
    return !other.ended || other.done || other.restart_ns.has_value();
  });
  const Worker& worker = workers_[number];
  const bool is_missed = !worker.done && state_ != State::ending;
  return {
      number,   replicas_.stage_index(number), replicas_.replica(number), worker.ready, others_left,
      is_missed};
}

void Supervisor::follow(int number, const Recovery::Decision& decision) {
  using What = Recovery::Decision::Next;
  if (decision.next == What::nothing) return;
  if (decision.quarantined.samples > 0) setup_.lines.tell(decision.quarantined);
  if (decision.next == What::fail) return end(RunEnd::failed, decision.event);
  setup_.lines.tell(decision.event);
  switch (decision.next) {
    case What::resume:
      live_counters(setup_.control, number).restarts.fetch_add(1);
      outcome_.resume_at_ns = decision.restart_ns;
      return end(outcome_.signal == 0 ? RunEnd::resumes : RunEnd::stopped);
    case What::restart:
      workers_[number].restart_ns = decision.restart_ns;
      workers_[number].restarts = decision.event.restarts;
      return;
    case What::carry_on:
      if (state_ != State::opening) return;
      barrier_.gone(number);  // the others need not wait for it to open
      if (barrier_.complete()) begin();
      return;
    case What::nothing:
    case What::fail:
      return;
  }
}

void Supervisor::restart_due() {
  if (!restarts_pending()) return;
  const std::int64_t now = setup_.clock.now_ns();
  for (const int number : workers_.numbers()) {
    Worker& worker = workers_[number];
    if (!worker.restart_ns || *worker.restart_ns > now) continue;
    worker.restart_ns.reset();
    worker.ended = false;
    worker.last_lines.clear();
    live_counters(setup_.control, number).restarts.fetch_add(1);
    watchdog_.starts(number, now);
    if (auto started = setup_.worker_pool.restart(number); !started)
      on(number, NotStarted{started.error().message});
  }
}

bool Supervisor::restarts_pending() const {
  return std::any_of(workers_.begin(), workers_.end(),
                     [](const Worker& worker) { return worker.restart_ns.has_value(); });
}

void Supervisor::on(int number, const Quarantined& quarantined) {
  setup_.disk.quarantined(replicas_.stage(number).name, quarantined.sample);
}

void Supervisor::end(RunEnd why, std::string failure) {
  end(why, Event{.level = EventLevel::error, .message = std::move(failure)});
}

/// The one place that decides what ends the run: the first reason is the one that matters.
void Supervisor::end(RunEnd why, const Event& failure) {
  if (state_ == State::ending) return;
  state_ = State::ending;
  outcome_.end = why;
  outcome_.failure = event_text(failure);
  if (!outcome_.failure.empty()) setup_.lines.tell(failure);
  for (Worker& worker : workers_) worker.restart_ns.reset();
  setup_.worker_pool.end_all();
}

void Supervisor::audit() {
  tell_epochs();
  if (state_ == State::ending) return;
  if (const auto unbalanced = audit_failure(setup_.plan, setup_.control))
    end(RunEnd::unbalanced, concat("the audit does not balance: ", *unbalanced));
}

RunSummary Supervisor::summary() const {
  RunSummary summary;
  const std::int64_t now = setup_.clock.now_ns();
  summary.figures = read_figures(setup_.plan, setup_.resume, setup_.control, now);
  const std::int64_t over = outcome_.ended_by_itself() && done_ns_ != 0 ? done_ns_ : now;
  if (running_ns_ != 0) {
    summary.start_seconds = static_cast<double>(running_ns_ - setup_.exec_ns) / 1e9;
    summary.seconds = static_cast<double>(over - running_ns_) / 1e9;
  }
  if (summary.figures.first_sample_ns != 0) {
    summary.first_sample_seconds =
        static_cast<double>(summary.figures.first_sample_ns - setup_.exec_ns) / 1e9;
  }
  for (const StageNumber s : setup_.plan.stages.numbers())
    summary.results.emplace_back(setup_.plan.stages[s].name, results_of(s));
  summary.sources = sources_.audits();
  summary.edges = audit_edges(setup_.plan, setup_.control);
  return summary;
}

}  // namespace brigade
