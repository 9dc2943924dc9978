// What the supervisor tells, as events, and what it reads for them.

#include <algorithm>
#include <utility>

#include <brigade/text.h>
#include "pipeline/report/counters.h"
#include "pipeline/report/progress.h"
#include "pipeline/run/supervisor/supervisor.h"
#include "stages/detail/exec_stage.h"
#include "stages/detail/fused_stage.h"

namespace brigade {
namespace {

constexpr std::size_t kLooksKept = 10;

}  // namespace

void Supervisor::tell_stop(int signal, std::string text) {
  setup_.lines.tell({.kind = EventKind::stopping,
                     .signal = signal,
                     .duration_ns = setup_.plan.drain_ns,
                     .message = std::move(text)});
}

void Supervisor::tell_stall(const Watchdog::Finding& finding) {
  Event event;
  if (finding.number >= 0) event = event_about(finding.number);
  event.kind = EventKind::stalled;
  event.level = EventLevel::warning;
  event.duration_ns = finding.stood_ns;
  event.message = finding.text;
  setup_.lines.tell(event);
}

/// An event about a replica, which is to get its kind.
Event Supervisor::event_about(int number) const {
  Event event;
  event.stage = replicas_.stage(number).name;
  event.replica = replicas_.replica(number);
  return event;
}

RunFigures Supervisor::figures_now() const {
  return read_figures(setup_.plan, setup_.resume, setup_.control, setup_.clock.now_ns());
}

/// Several that have ended between two looks are one event.
void Supervisor::tell_epochs() {
  const RunFigures now = figures_now();
  if (now.epochs <= epochs_told_) return;
  epochs_told_ = now.epochs;
  setup_.lines.tell({.kind = EventKind::epoch,
                     .level = EventLevel::debug,
                     .samples = now.samples,
                     .epoch = now.epochs - 1});
}

void Supervisor::show_progress() {
  const std::int64_t every = setup_.lines.progress_every_ns();
  const std::int64_t now = setup_.clock.now_ns();
  if (every == 0 || now < next_progress_ns_ || state_ == State::ending) return;
  next_progress_ns_ = now + every;
  Event event;
  event.kind = EventKind::progress;
  if (state_ == State::opening) {
    event.message = concat("opening ", barrier_.waiting_for());
    return setup_.lines.tell(event);
  }
  looks_.push_back(figures_now());
  if (looks_.size() == 1) looks_.front().now_ns = std::max(running_ns_, now - every);
  if (looks_.size() > kLooksKept) looks_.pop_front();
  if (looks_.size() < 2) return;
  std::string line = progress_line(setup_.plan, looks_.front(), looks_.back(), results_to_show());
  if (state_ != State::running) line = concat("draining  ", line);
  event.message = std::move(line);
  event.samples = looks_.back().samples;
  event.epoch = looks_.back().epochs;
  setup_.lines.tell(event);
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

void Supervisor::tell_line(int number, EventKind kind, const std::string& line) {
  Event event = event_about(number);
  event.kind = kind;
  event.message = line;
  setup_.lines.tell(event);
}

void Supervisor::tell_restart(int number) {
  Event event = event_about(number);
  event.kind = EventKind::restarted;
  event.level = EventLevel::debug;
  event.pid = setup_.worker_pool.pid(number);
  event.restarts = workers_[number].restarts;
  setup_.lines.tell(event);
}

}  // namespace brigade
