#include "pipeline/process/supervisor.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <csignal>

#include "base/text.h"
#include "base/units.h"
#include "pipeline/process/crash_handler.h"
#include "pipeline/process/stop_ends.h"
#include "pipeline/stats/counters.h"
#include "pipeline/stats/progress.h"
#include "stages/api/chain.h"
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

Supervisor::Supervisor(const SupervisorSetup& setup)
    : setup_(setup),
      barrier_(setup.plan),
      sources_(setup.plan),
      recovery_(setup.plan, setup.control, setup.books, setup.repair_rules),
      stall_watch_(setup.plan, setup.control),
      quarantine_file_(setup.quarantine_file) {
  for (int s = 0; s < static_cast<int>(setup.plan.stages.size()); ++s) {
    const PlanStage& stage = setup.plan.stages[static_cast<std::size_t>(s)];
    for (int r = 0; r < stage.replicas; ++r) {
      Member& member = members_.emplace_back();
      member.stage = s;
      member.replica = r;
    }
  }
}

const PlanStage& Supervisor::stage_of(const Member& member) const {
  return setup_.plan.stages[static_cast<std::size_t>(member.stage)];
}

RunOutcome Supervisor::run() {
  next_progress_ns_ = setup_.clock.now_ns() + setup_.lines.progress_every_ns();
  if (auto started = setup_.crew.start(); !started) fail(started.error().message);
  while (setup_.crew.running() > 0 || restarts_pending()) {
    wait();
    for (const CrewEvent& event : setup_.crew.take_events()) on_event(event);
    take_stops();
    step();
    show_progress();
  }
  settle();
  check_books();
  return outcome();
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
  if (state_ != State::opening && state_ != State::ending) next = std::min(next, next_look_ns_);
  for (const Member& member : members_) {
    if (member.restart_ns) next = std::min(next, *member.restart_ns);
  }
  if (next == INT64_MAX) return -1;
  const std::int64_t left = std::max<std::int64_t>(next - now, 0);
  return static_cast<int>(std::min<std::int64_t>((left + kMillisecond - 1) / kMillisecond, 60'000));
}

void Supervisor::wait() {
  pollfd fds[] = {{setup_.crew.event_fd(), POLLIN, 0}, {setup_.stops.fd(), POLLIN, 0}};
  poll(fds, 2, timeout_ms());
}

void Supervisor::take_stops() {
  while (const auto signal = setup_.stops.take()) {
    if (*signal != StopRequests::kWakeUp) on_stop(*signal);
  }
  std::string outside;
  {
    const std::lock_guard lock(outside_mutex_);
    outside.swap(outside_failure_);
  }
  if (!outside.empty()) fail(outside);
}

void Supervisor::on_stop(int signal) {
  if (signal_ == 0 && (resume_ || state_ != State::ending)) signal_ = signal;
  if (state_ == State::ending) return;
  if (state_ != State::running) {
    setup_.lines.line(LineKind::note, state_ == State::opening ? "stopped before it had started"
                                                               : "ended at once, as asked");
    return end_everybody();
  }
  const auto drain = std::chrono::nanoseconds(setup_.plan.drain_ns);
  setup_.lines.line(LineKind::note, concat("stopping: the line runs dry, for at most ",
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
      all_acknowledged<SystemPolicy>(setup_.control, [this](int replica) {
        return members_[static_cast<std::size_t>(replica)].ended;
      })) {
    const std::vector<std::uint64_t> ends = stop_ends(setup_.plan, setup_.control);
    for (std::size_t d = 0; d < ends.size(); ++d)
      lower_end_to(setup_.control, static_cast<int>(d), ends[d]);
    state_ = State::draining;
  }
  if (state_ != State::stopping && state_ != State::draining) return;
  if (setup_.clock.now_ns() < deadline_ns_) return;
  const auto drain = std::chrono::nanoseconds(setup_.plan.drain_ns);
  setup_.lines.line(LineKind::warning, concat("the line did not run dry within ",
                                              format_duration(drain), " (`drain:`): ended"));
  end_everybody();
}

void Supervisor::look_for_stalls() {
  const std::int64_t now = setup_.clock.now_ns();
  if (state_ == State::opening || state_ == State::ending || now < next_look_ns_) return;
  next_look_ns_ = now + stall_watch_.every_ns();
  for (const StallWatch::Finding& finding :
       stall_watch_.look(now, [this](int number) { return setup_.crew.condition(number); })) {
    setup_.lines.line(LineKind::warning, finding.text);
    if (finding.act == StallWatch::Finding::Act::abort) setup_.crew.signal(finding.number, SIGABRT);
    if (finding.act == StallWatch::Finding::Act::kill) setup_.crew.signal(finding.number, SIGKILL);
  }
}

void Supervisor::on_event(const CrewEvent& event) {
  std::visit([&](const auto& what) { on(event.replica, what); }, event.what);
}

void Supervisor::on(int number, const Ready& ready) {
  members_[static_cast<std::size_t>(number)].ready = true;
  if (state_ != State::opening) return;
  barrier_.ready(number, ready.source_size);
  sources_.ready(number, ready.source_size, ready.left_out);
  if (barrier_.complete()) begin();
}

void Supervisor::begin() {
  const auto starts = barrier_.starts();
  if (!starts) return fail(starts.error().message);
  for (const DomainStart& start : *starts) {
    set_end(setup_.control, start.domain, start.samples, start.period,
            domain_epochs(setup_.plan, start.domain));
  }
  sources_.say(setup_.lines);
  begin_running(setup_.control);
  running_ns_ = setup_.clock.now_ns();
  state_ = State::running;
}

void Supervisor::on(int number, const Failed& failed) {
  Death death = death_of(number, {});
  death.message = failed.message;
  fail(death_text(death));
}

void Supervisor::on(int number, const Said& said) {
  const Member& member = members_[static_cast<std::size_t>(number)];
  setup_.lines.line(LineKind::output, concat(stage_of(member).name, ": ", said.line));
}

void Supervisor::on(int number, const Reported& reported) {
  members_[static_cast<std::size_t>(number)].results.values[reported.name] = reported.value;
}

void Supervisor::on(int number, const Done&) {
  members_[static_cast<std::size_t>(number)].done = true;
  done_ns_ = setup_.clock.now_ns();
}

void Supervisor::on(int number, const Printed& printed) {
  Member& member = members_[static_cast<std::size_t>(number)];
  if (!printed.line.starts_with(kBacktracePrefix)) member.last_lines.push_back(printed.line);
  if (member.last_lines.size() > kLastLinesKept) member.last_lines.pop_front();
  setup_.lines.line(LineKind::output,
                    concat(stage_of(member).name, ".", member.replica, ": ", printed.line));
}

void Supervisor::on(int number, const Ended& ended) {
  Member& member = members_[static_cast<std::size_t>(number)];
  member.ended = true;
  if (state_ == State::ending) return;
  const std::int64_t now = setup_.clock.now_ns();
  if (!member.done)
    return follow(number,
                  recovery_.died(dead_replica(number), death_of(number, ended.ending), now));
  // However it ended: it had nothing left to do.
  if (!ended.ending.clean()) recovery_.put_right(member.stage, member.replica);
}

void Supervisor::on(int number, const NotStarted& failed) {
  Member& member = members_[static_cast<std::size_t>(number)];
  member.ended = true;
  if (state_ == State::ending) return;
  if (!member.restarted) return fail(failed.message);  // what was too little will not be more soon
  live_counters(setup_.control, number).restarts.fetch_sub(1);
  const std::int64_t now = setup_.clock.now_ns();
  follow(number, recovery_.not_started(dead_replica(number), failed.message, now));
}

DeadReplica Supervisor::dead_replica(int number) const {
  const Member& member = members_[static_cast<std::size_t>(number)];
  const bool others_left = std::any_of(members_.begin(), members_.end(), [&](const Member& other) {
    return other.stage == member.stage &&
           (!other.ended || other.done || other.restart_ns.has_value());
  });
  return {number, member.stage, member.replica, member.ready, others_left};
}

void Supervisor::follow(int number, const Recovery::Decision& decision) {
  using What = Recovery::Decision::Next;
  if (decision.next == What::fail) return fail(decision.text);
  setup_.lines.line(LineKind::warning, decision.text);
  switch (decision.next) {
    case What::resume:
      live_counters(setup_.control, number).restarts.fetch_add(1);
      resume_ = true;
      resume_at_ns_ = decision.restart_ns;
      return end_everybody();
    case What::restart:
      members_[static_cast<std::size_t>(number)].restart_ns = decision.restart_ns;
      return;
    case What::carry_on:
      if (state_ != State::opening) return;
      barrier_.gone(number);  // the others need not wait for it to open
      if (barrier_.complete()) begin();
      return;
    case What::fail:
      return;
  }
}

void Supervisor::restart_due() {
  if (!restarts_pending()) return;
  const std::int64_t now = setup_.clock.now_ns();
  for (int number = 0; number < static_cast<int>(members_.size()); ++number) {
    Member& member = members_[static_cast<std::size_t>(number)];
    if (!member.restart_ns || *member.restart_ns > now) continue;
    member.restart_ns.reset();
    member.ended = false;
    member.restarted = true;
    member.last_lines.clear();
    live_counters(setup_.control, number).restarts.fetch_add(1);
    if (auto started = setup_.crew.restart(number); !started)
      on(number, NotStarted{started.error().message});
  }
}

bool Supervisor::restarts_pending() const {
  return std::any_of(members_.begin(), members_.end(),
                     [](const Member& member) { return member.restart_ns.has_value(); });
}

void Supervisor::on(int number, const Quarantined& quarantined) {
  const Member& member = members_[static_cast<std::size_t>(number)];
  const auto added = quarantine_file_.add(stage_of(member).name, quarantined.sample);
  if (!added) setup_.lines.line(LineKind::warning, added.error().message);
}

Death Supervisor::death_of(int number, const Ending& ending) const {
  const Member& member = members_[static_cast<std::size_t>(number)];
  Death death;
  death.stage = stage_of(member).name;
  death.replica = member.replica;
  death.pid = setup_.crew.pid(number);
  death.ending = ending;
  death.sample = sample_in_hand(setup_.plan, barrier_, member.stage,
                                setup_.control.replicas[number].at.value.load());
  death.last_lines = member.last_lines;
  return death;
}

void Supervisor::fail(const std::string& message) {
  if (state_ == State::ending) return;  // the first reason is the one that matters
  failure_ = message;
  setup_.lines.line(LineKind::error, message);
  end_everybody();
}

void Supervisor::end_everybody() {
  state_ = State::ending;
  for (Member& member : members_) member.restart_ns.reset();
  setup_.crew.end_all();
}

void Supervisor::show_progress() {
  const std::int64_t every = setup_.lines.progress_every_ns();
  const std::int64_t now = setup_.clock.now_ns();
  if (every == 0 || now < next_progress_ns_ || state_ == State::ending) return;
  next_progress_ns_ = now + every;
  if (state_ == State::opening)
    return setup_.lines.progress(concat("opening ", barrier_.waiting_for()));
  looks_.push_back(read_figures(setup_.plan, setup_.control, now));
  if (looks_.size() == 1) looks_.front().now_ns = std::max(running_ns_, now - every);
  if (looks_.size() > kLooksKept) looks_.pop_front();
  if (looks_.size() < 2) return;
  std::string line = progress_line(setup_.plan, looks_.front(), looks_.back(), results_to_show());
  if (state_ != State::running) line = concat("running dry  ", line);
  setup_.lines.progress(line);
}

std::vector<StageResult> Supervisor::results_of(int stage) const {
  std::vector<ReplicaResults> replicas;
  for (std::size_t number = 0; number < members_.size(); ++number) {
    if (members_[number].stage != stage) continue;
    replicas.push_back(members_[number].results);
    replicas.back().samples =
        live_counters(setup_.control, static_cast<int>(number)).samples.load();
  }
  const std::string& type = setup_.plan.stages[static_cast<std::size_t>(stage)].type;
  StageType chain;
  const StageType* const found = find_type_or_chain(setup_.types, type, chain);
  return combine_results(found == nullptr ? std::vector<ReportSpec>{} : found->contract.reports,
                         replicas);
}

std::vector<StageResult> Supervisor::results_to_show() const {
  std::vector<StageResult> shown;
  for (int s = 0; s < static_cast<int>(setup_.plan.stages.size()); ++s)
    for (StageResult& result : results_of(s))
      if (result.progress && result.value) shown.push_back(std::move(result));
  return shown;
}

/// Whoever was ended in the middle of a task has claims and finished tasks that hold up a mark, and
/// with it the position to go on from.
void Supervisor::settle() {
  if (ended_by_itself() || setup_.plan.checkpoint_file.empty()) return;
  for (const Member& member : members_) recovery_.put_right(member.stage, member.replica);
}

void Supervisor::check_books() {
  if (!ended_by_itself()) return;
  const auto unbalanced = audit_failure(setup_.plan, setup_.control);
  if (!unbalanced) return;
  failure_ = concat("the books do not balance: ", *unbalanced);
  setup_.lines.line(LineKind::error, failure_);
}

RunOutcome Supervisor::outcome() const {
  RunOutcome outcome;
  outcome.failure = failure_;
  outcome.signal = signal_;
  outcome.ended_by_itself = ended_by_itself();
  outcome.resume = resume_ && failure_.empty() && signal_ == 0;
  outcome.resume_at_ns = resume_at_ns_;
  RunSummary& summary = outcome.summary;
  const std::int64_t now = setup_.clock.now_ns();
  summary.figures = read_figures(setup_.plan, setup_.control, now);
  const std::int64_t end = ended_by_itself() && done_ns_ != 0 ? done_ns_ : now;
  if (running_ns_ != 0) summary.seconds = static_cast<double>(end - running_ns_) / 1e9;
  if (summary.figures.first_sample_ns != 0) {
    summary.first_sample_seconds =
        static_cast<double>(summary.figures.first_sample_ns - setup_.exec_ns) / 1e9;
  }
  for (int s = 0; s < static_cast<int>(setup_.plan.stages.size()); ++s) {
    summary.results.emplace_back(setup_.plan.stages[static_cast<std::size_t>(s)].name,
                                 results_of(s));
  }
  summary.sources = sources_.books();
  summary.edges = audit_edges(setup_.plan, setup_.control);
  return outcome;
}

}  // namespace brigade
