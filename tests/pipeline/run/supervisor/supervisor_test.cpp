// A supervisor without processes: tests/golden/run/supervisor.txt. Its graph is numbers (replica 0)
// -> two sinks (1 and 2). A command is all that it finds at one look, parted by `| `: first what
// happens (Supervised::happens), then what replicas report (reports); `> run` starts it.

#include "pipeline/run/supervisor/supervisor.h"

#include <gtest/gtest.h>

#include <csignal>

#include "base/units.h"
#include "pipeline/memory/shared_segments.h"
#include "pipeline/report/counters.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_worker_pool.h"
#include "tests/support/small_plan.h"
#include "tests/support/word_for_word.h"

namespace brigade {
namespace {

using Words = std::vector<std::string>;

/// Appends what an event says to programs, and its line.
struct Transcript final : RunOutput {
  void tell(const Event& event) override {
    static const char* const kKinds[] = {
        "message", "progress", "logged",    "printed",     "running",     "epoch",  "stopping",
        "ended",   "died",     "restarted", "not_started", "quarantined", "failed", "stalled"};
    static const char* const kLevels[] = {"debug ", "", "warning ", "error "};
    text += concat(kLevels[static_cast<int>(event.level)], kKinds[static_cast<int>(event.kind)]);
    if (!event.stage.empty()) text += concat(" ", event.stage, ".", event.replica);
    for (const auto& [name, value] : {std::pair{" pid ", event.pid},
                                      {" signal ", event.signal},
                                      {" next ", static_cast<int>(event.next)},
                                      {" deaths ", event.deaths},
                                      {" samples ", static_cast<int>(event.samples)}})
      if (value != 0) text += concat(name, value);
    if (event.sample) text += concat(" sample ", event.sample->number);
    text += concat(": ", event_text(event), "\n");
  }
  std::int64_t progress_every_ns() const override { return every_ns; }

  std::string text;
  std::int64_t every_ns = 0;
};

struct Supervised {
  std::string answer(std::string_view line) {
    if (line == "run") return run();
    std::vector<WorkerEvent> events;
    std::vector<Words> happen;
    for (const std::string& one : pieces(std::string(line))) {
      const Words words = pieces(one, " ");
      if (words[0] == "all" || std::isdigit(words[0][0]) != 0)
        report(words, one.substr(std::min(one.size(), words[0].size() + words[1].size() + 2)),
               events);
      else if (!sets(words))
        happen.push_back(words);
    }
    worker_pool.step(std::move(events), [this, happen] {
      for (const Words& words : happen) happens(words);
    });
    return "";
  }

  std::string run() {
    RecoveryTallies tallies{plan};
    const auto disk = DiskWriter::start(plan, resume, control, QuarantineFile(""), lines).value();
    Supervisor made(
        {plan, resume, types, control, worker_pool, *stops, lines, clock, 0, *disk, {}, tallies});
    supervisor = &made;
    const RunOutcome outcome = made.run();
    std::string text = std::exchange(lines.text, "");
    text += concat("exit code ", exit_code(outcome),
                   outcome.ended_by_itself() ? ", by itself" : ", ended",
                   outcome.failure.empty() ? "" : concat(": ", outcome.failure), "\n");
    if (control.stages[1].repairs->value > 1)
      text += concat("repairs ", control.stages[1].repairs->value.load(), "\n");
    for (const StageFigures& stage : outcome.summary.figures.stages)
      if (stage.restarts != 0) text += concat(stage.name, " restarts ", stage.restarts, "\n");
    for (const auto& [stage, results] : outcome.summary.results)
      for (const StageResult& result : results)
        text += concat(stage, " ", result.name, " ", format_result(result), "\n");
    return text;
  }

  /// Changes the plan, or what the worker pool will do.
  bool sets(const Words& words) {
    if (words[0] == "restarts")
      for (PlanStage& stage : plan.stages) stage.restart.policy = RestartSpec::Policy::on_failure;
    else if (words[0] == "degrades")
      plan.stages[1].restart.degrade = true;
    else if (words[0] == "aborts_stalls")
      plan.stages[1].stall = {10'000'000'000, true};
    else if (words[0] == "poison_after")
      plan.stages[1].poison_after = std::stoi(words[1]);
    else if (words[0] == "shows_progress")
      lines.every_ns = 1'000'000'000;
    else if (words[0] == "cannot_start")
      worker_pool.start_error = "too many processes";
    else if (words[0] == "cannot_restart")
      worker_pool.restart_errors = {"out of processes"};
    else if (words[0] == "stopped_before")
      stops->ask(SIGINT);
    else
      return false;
    return true;
  }

  void happens(const Words& words) {
    const auto number = [&](std::size_t word) { return std::stoull(words.at(word)); };
    if (words[0] == "look")
      lines.text += state();
    else if (words[0] == "stop")
      stops->ask(words[1] == "SIGINT" ? SIGINT : SIGTERM);
    else if (words[0] == "after")
      clock.advance(parse_duration(words[1]).value());
    else if (words[0] == "level")
      level(StageNumber(number(1))) = number(2);
    else if (words[0] == "work_is_done")
      level(0) = level(1) = control.index_spaces[0]->end.value.load();
    else if (words[0] == "acknowledges")
      control.replicas[number(1)].ack.value = 1;
    else if (words[0] == "claims")
      table().word(0) = table().claimed(0, number(1));
    else if (words[0] == "fails")
      supervisor->fail_from_outside("no memory");
    else if (words[0] == "is_at") {
      live_counters(control, static_cast<int>(number(1))).since_ns = 1;
      control.replicas[number(1)].in_flight.value = number(2);
    } else
      ADD_FAILURE() << words[0];
  }

  void report(const Words& words, const std::string& rest, std::vector<WorkerEvent>& events) {
    const auto with = [&](const std::string& what) -> decltype(WorkerEvent::what) {
      if (what == "ready") return rest.empty() ? Ready{} : Ready{std::stoull(rest)};
      if (what == "done") return Done{};
      if (what == "killed") return Ended{{Ending::Kind::killed, std::stoi(rest)}};
      if (what == "exited") return Ended{{Ending::Kind::exited, std::stoi(rest)}};
      if (what == "vanished") return Ended{};
      if (what == "failed") return Failed{rest};
      if (what == "printed") return Printed{rest};
      if (what == "reported") return Reported{"loss", std::stod(rest)};
      if (what == "not_started") return NotStarted{rest};
      EXPECT_EQ(what, "said");
      const auto [text, subject] = parted(rest, " of ");
      return Logged{text, subject};
    };
    for (int r = 0; r < 3; ++r)
      if (words[0] == "all" || words[0] == concat(r)) events.push_back({r, with(words[1])});
  }

  std::string state() const {
    static const char* const kStops[] = {"no", "asked", "end_is_set"};
    const std::uint64_t stop = control.index_spaces[0]->stop.value;
    std::string text = concat("phase ", control.phase->value.load(), ", end ",
                              control.index_spaces[0]->end.value.load());
    text += concat(", samples ", control.index_spaces[0]->epoch_samples.value.load());
    if (stop != 0) text += concat(", stop ", kStops[stop]);
    if (worker_pool.was_ended()) text += ", all are ended";
    if (const std::uint64_t repairs = control.stages[1].repairs->value; repairs != 0)
      text +=
          concat(", repairs ", repairs, ", the task is ",
                 table().read(table().word(0), 0).state == TaskState::open ? "open" : "claimed");
    for (const int replica : worker_pool.restarted) text += concat(", restarted ", replica);
    for (const auto& [replica, signal] : worker_pool.signals)
      text += concat(", signal ", signal, " to ", replica);
    return text + "\n";
  }
  TaskTable<SystemPolicy>& table() const { return control.stages[1].queues[0].table; }
  std::atomic<std::uint64_t>& level(StageNumber stage) const {
    return control.stages[stage].queues[0].watermark->level.value;
  }

  Transcript lines;
  Plan plan = small_plan(2);
  const ResumePoint resume{};
  std::unique_ptr<SharedSegments> segments = SharedSegments::create(plan, {}).value();
  Control<SystemPolicy>& control = segments->control();
  FakeWorkerPool worker_pool{3};
  std::unique_ptr<StopRequests> stops = StopRequests::create(false).value();
  FakeClock clock{1'000'000'000};
  StageTypes types;
  Supervisor* supervisor = nullptr;
};

TEST(Supervisor, DecidesWordForWord) { expect_session<Supervised>("run/supervisor.txt"); }

}  // namespace
}  // namespace brigade
