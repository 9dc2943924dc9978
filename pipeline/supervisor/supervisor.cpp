#include "pipeline/supervisor/supervisor.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <csignal>

#include <brigade/text.h>
#include "base/units.h"
#include "pipeline/records/source_id.h"
#include "pipeline/stats/counters.h"
#include "pipeline/stats/progress.h"
#include "pipeline/supervisor/drain_points.h"
#include "pipeline/worker/crash_handler.h"
#include "stages/detail/exec_stage.h"
#include "stages/detail/fused_stage.h"
#include "transports/stop.h"

namespace brigade {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kAcknowledgeEveryNs = 2 * kMillisecond;  // acks are words, nobody rings
constexpr std::size_t kLooksKept = 10;

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
    setup_.lines.line(LineKind::note, state_ == State::opening ? "stopped before it had started"
                                                               : "ended at once, as asked");
    return end(RunEnd::stopped);
  }
  const auto drain = std::chrono::nanoseconds(setup_.plan.drain_ns);
  setup_.lines.line(LineKind::note, concat("stopping: the line drains, for at most ",
                                           format_duration(drain), "; once more ends it at once"));
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
  setup_.lines.line(LineKind::warning, concat("the line did not drain within ",
                                              format_duration(drain), " (`drain:`): ended"));
  end(RunEnd::stopped);
}

void Supervisor::look_for_stalls() {
  const std::int64_t now = setup_.clock.now_ns();
  if (state_ == State::ending || now < next_look_ns_) return;
  next_look_ns_ = now + watchdog_.every_ns();
  for (const PlanStage& stage : setup_.plan.stages)  // a program looks whether anything moves
    if (stage.is_application()) ring(setup_.control.doorbells[stage.first_replica]);
  for (const Watchdog::Finding& finding :
       watchdog_.look(now, [this](int number) { return setup_.worker_pool.condition(number); })) {
    setup_.lines.line(LineKind::warning, finding.text);
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
  begin_running(setup_.control);
  running_ns_ = setup_.clock.now_ns();
  state_ = State::running;
}

void Supervisor::on(int number, const Failed& failed) {
  FailureReport death = death_of(number, {});
  death.message = failed.message;
  end(RunEnd::failed, failure_text(death));
}

void Supervisor::on(int number, const Logged& said) {
  setup_.lines.line(LineKind::output, concat(replicas_.stage(number).name, ": ", said.line));
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
  setup_.lines.line(LineKind::output, concat(replicas_.name(number), ": ", printed.line));
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
  if (!worker.restarted)
    return end(RunEnd::failed, failed.message);  // what was too little will not be more soon
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
  if (decision.next == What::fail) return end(RunEnd::failed, decision.text);
  setup_.lines.line(LineKind::warning, decision.text);
  switch (decision.next) {
    case What::resume:
      live_counters(setup_.control, number).restarts.fetch_add(1);
      outcome_.resume_at_ns = decision.restart_ns;
      return end(outcome_.signal == 0 ? RunEnd::resumes : RunEnd::stopped);
    case What::restart:
      workers_[number].restart_ns = decision.restart_ns;
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
    worker.restarted = true;
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

FailureReport Supervisor::death_of(int number, const Ending& ending) const {
  FailureReport death;
  death.stage = replicas_.stage(number).name;
  death.replica = replicas_.replica(number);
  death.pid = setup_.worker_pool.pid(number);
  death.ending = ending;
  death.is_exec = replicas_.stage(number).type == kExecType;
  death.sample =
      in_flight_sample(setup_.plan, barrier_, setup_.control, replicas_.stage_index(number),
                       setup_.control.replicas[number].in_flight.value.load());
  death.last_lines = workers_[number].last_lines;
  return death;
}

/// The one place that decides what ends the run: the first reason is the one that matters.
void Supervisor::end(RunEnd why, const std::string& failure) {
  if (state_ == State::ending) return;
  state_ = State::ending;
  outcome_.end = why;
  outcome_.failure = failure;
  if (!failure.empty()) setup_.lines.line(LineKind::error, failure);
  for (Worker& worker : workers_) worker.restart_ns.reset();
  setup_.worker_pool.end_all();
}

void Supervisor::show_progress() {
  const std::int64_t every = setup_.lines.progress_every_ns();
  const std::int64_t now = setup_.clock.now_ns();
  if (every == 0 || now < next_progress_ns_ || state_ == State::ending) return;
  next_progress_ns_ = now + every;
  if (state_ == State::opening)
    return setup_.lines.progress(concat("opening ", barrier_.waiting_for()));
  looks_.push_back(read_figures(setup_.plan, setup_.resume, setup_.control, now));
  if (looks_.size() == 1) looks_.front().now_ns = std::max(running_ns_, now - every);
  if (looks_.size() > kLooksKept) looks_.pop_front();
  if (looks_.size() < 2) return;
  std::string line = progress_line(setup_.plan, looks_.front(), looks_.back(), results_to_show());
  if (state_ != State::running) line = concat("draining  ", line);
  setup_.lines.progress(line);
}

std::vector<StageResult> Supervisor::results_of(StageNumber stage) const {
  std::vector<ReplicaResults> replicas;
  const PlanStage& planned = setup_.plan.stages[stage];
  for (int r = 0; r < planned.replicas; ++r) {
    const int number = planned.first_replica + r;
    replicas.push_back(workers_[number].results);
    replicas.back().samples = live_counters(setup_.control, number).samples.load();
  }
  StageType fused;
  const StageType* const found = find_type_or_fused(setup_.types, planned.type, fused);
  return combine_results(found == nullptr ? std::vector<ReportSpec>{} : found->contract.reports,
                         replicas);
}

std::vector<StageResult> Supervisor::results_to_show() const {
  std::vector<StageResult> shown;
  for (const StageNumber s : setup_.plan.stages.numbers())
    for (StageResult& result : results_of(s))
      if (result.progress && result.value) shown.push_back(std::move(result));
  return shown;
}

void Supervisor::audit() {
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
