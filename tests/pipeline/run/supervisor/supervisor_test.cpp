#include "pipeline/run/supervisor/supervisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "pipeline/memory/shared_segments.h"
#include "pipeline/report/counters.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_worker_pool.h"
#include "tests/support/keeping_lines.h"
#include "tests/support/small_plan.h"

namespace brigade {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

// numbers (replica 0 of the graph) -> two sinks (1 and 2), without anybody who works.
struct Supervising : testing::Test {
  Plan plan = small_plan(2);
  const ResumePoint resume;
  std::unique_ptr<SharedSegments> segments = SharedSegments::create(plan, {}).value();
  Control<SystemPolicy>& control = segments->control();
  FakeWorkerPool worker_pool{3};
  std::unique_ptr<StopRequests> stops = StopRequests::create(false).value();
  KeepingLines lines;
  FakeClock clock{1'000'000'000};
  StageTypes types;
  RecoveryTallies tallies{plan};
  std::unique_ptr<DiskWriter> disk =
      DiskWriter::start(plan, resume, control, QuarantineFile(""), lines).value();
  Supervisor supervisor{setup(tallies)};

  SupervisorSetup setup(RecoveryTallies& of) {
    return {plan, resume, types, control, worker_pool, *stops, lines, clock, 0, *disk, {}, of};
  }
  std::uint64_t phase() const { return control.phase->value.load(); }
  std::uint64_t end() const { return control.index_spaces[0]->end.value.load(); }
  Watermark<SystemPolicy>& watermark(StageNumber stage) {
    return *control.stages[stage].queues[0].watermark;
  }
  // As if all work were done.
  void finish_work() { watermark(0).level.value = watermark(1).level.value = end(); }
};

TEST_F(Supervising, ARunGoesFromReadyToDone) {
  worker_pool.all_ready(100);
  worker_pool.step({}, [&] {
    EXPECT_EQ(phase(), static_cast<std::uint64_t>(Phase::running));
    EXPECT_EQ(end(), 128u);  // 100 rounded up to the tasks of 64
    EXPECT_EQ(control.index_spaces[0]->epoch_samples.value, 100u);
    finish_work();
  });
  worker_pool.all_done();
  const RunOutcome outcome = supervisor.run();
  EXPECT_TRUE(outcome.failure.empty() && outcome.ended_by_itself()) << outcome.failure;
  EXPECT_EQ(lines.of(EventKind::running).size(), 1u);
  EXPECT_EQ(lines.of(EventKind::epoch).size(), 1u);
  EXPECT_EQ(exit_code(outcome), 0);
  EXPECT_THAT(lines.lines, ElementsAre());
}

TEST_F(Supervising, NobodyStartsBeforeEverybodyIsReady) {
  worker_pool.step({{0, Ready{100}}, {1, Ready{}}});
  worker_pool.step({}, [&] { EXPECT_EQ(phase(), static_cast<std::uint64_t>(Phase::starting)); });
  worker_pool.step({{2, Ready{}}});
  worker_pool.step({}, [&] {
    EXPECT_EQ(phase(), static_cast<std::uint64_t>(Phase::running));
    finish_work();
  });
  worker_pool.all_done();
  EXPECT_EQ(exit_code(supervisor.run()), 0);
}

TEST_F(Supervising, ADeathIsRepairedBeforeAnythingElse) {
  auto& word = control.stages[1].queues[0].table;
  worker_pool.all_ready(100);
  worker_pool.step({}, [&] { word.word(0) = word.claimed(0, 2); });
  worker_pool.step({{2, Ended{{Ending::Kind::killed, SIGKILL}}}});
  supervisor.run();
  EXPECT_EQ(word.read(word.word(0), 0).state, TaskState::open);
  EXPECT_EQ(control.stages[1].repairs->value, 2u) << "who was ended for it, too";
}

struct Restarting : Supervising {
  static Plan& restarting_plan(Plan& plan) {
    for (PlanStage& stage : plan.stages) stage.restart.policy = RestartSpec::Policy::on_failure;
    return plan;
  }
  RecoveryTallies restarting_tallies{restarting_plan(plan)};
  Supervisor restarting{setup(restarting_tallies)};
};

TEST_F(Restarting, ADeadReplicaIsStartedAgainAndTheRunGoesOn) {
  worker_pool.all_ready(100);
  worker_pool.step({{1, Ended{{Ending::Kind::killed, SIGKILL}}}});
  worker_pool.step({{1, Ready{}}}, [&] {
    EXPECT_THAT(worker_pool.restarted, ElementsAre(1));
    EXPECT_EQ(phase(), static_cast<std::uint64_t>(Phase::running));
    finish_work();
  });
  worker_pool.all_done();
  const RunOutcome outcome = restarting.run();
  EXPECT_EQ(exit_code(outcome), 0);
  EXPECT_EQ(outcome.summary.figures.stages[1].restarts, 1u);
  EXPECT_THAT(lines.lines, ElementsAre(HasSubstr("warning: stage \"sink\" replica 0 (pid 1001) was "
                                                 "killed by SIGKILL")));
  ASSERT_EQ(lines.of(EventKind::died).size(), 1u);
  const Event died = lines.of(EventKind::died)[0];
  EXPECT_EQ(died.stage, "sink");
  EXPECT_EQ(died.pid, 1001);
  EXPECT_EQ(died.signal, SIGKILL);
  EXPECT_EQ(died.next, EventNext::restart);
  ASSERT_EQ(lines.of(EventKind::restarted).size(), 1u);
  EXPECT_EQ(lines.of(EventKind::restarted)[0].pid, 1001);
}

TEST_F(Restarting, ASampleThatKeepsEndingItsWorkerIsAnEvent) {
  plan.stages[1].poison_after = 1;
  worker_pool.all_ready(100);
  worker_pool.step({}, [&] { control.replicas[1].in_flight.value = 7; });
  worker_pool.step({{1, Ended{{Ending::Kind::killed, SIGSEGV}}}});
  worker_pool.step({{1, Ready{}}}, [&] { finish_work(); });
  worker_pool.all_done();
  restarting.run();
  ASSERT_EQ(lines.of(EventKind::quarantined).size(), 1u);
  const Event quarantined = lines.of(EventKind::quarantined)[0];
  EXPECT_EQ(quarantined.stage, "sink");
  ASSERT_TRUE(quarantined.sample);
  EXPECT_EQ(quarantined.sample->number, 7u);
  EXPECT_EQ(quarantined.deaths, 1);
  EXPECT_EQ(quarantined.samples, lines.of(EventKind::died)[0].samples);
}

TEST_F(Supervising, AStallIsSaidAndEndedWhereItIsAskedFor) {
  plan.stages[1].stall = {10'000'000'000, true};
  Supervisor watching{setup(tallies)};
  worker_pool.all_ready(100);
  worker_pool.step({}, [&] {
    live_counters(control, 1).since_ns = 1;
    control.replicas[1].in_flight.value = 7;
  });
  for (int second = 0; second < 40; ++second)
    worker_pool.step({}, [&] { clock.advance(std::chrono::seconds(1)); });
  worker_pool.step({}, [&] { finish_work(); });
  worker_pool.all_done();
  watching.run();
  EXPECT_THAT(worker_pool.signals, ElementsAre(std::pair{1, SIGABRT}, std::pair{1, SIGKILL}));
  EXPECT_THAT(lines.lines, ElementsAre(HasSubstr("has been at sample 7 for"),
                                       HasSubstr("; aborted"), HasSubstr("; killed")));
  ASSERT_EQ(lines.of(EventKind::stalled).size(), 3u);
  EXPECT_GE(lines.of(EventKind::stalled)[0].duration_ns, 10'000'000'000);
}

TEST_F(Supervising, TheLinesOfABacktraceAreShownButAreNoLastWords) {
  worker_pool.all_ready(100);
  worker_pool.step({{1, Printed{"about to break"}}, {1, Printed{"backtrace: somewhere"}}});
  worker_pool.step({{1, Ended{{Ending::Kind::killed, SIGSEGV}}}});
  EXPECT_THAT(supervisor.run().failure, testing::EndsWith("its last output: \"about to break\""));
  EXPECT_THAT(lines.lines, Contains("output: sink.0: backtrace: somewhere"));
}

TEST_F(Supervising, TheRunBeginsWithoutAReplicaThatIsGoneForGood) {
  plan.stages[1].restart.degrade = true;
  RecoveryTallies degrading_tallies{plan};
  Supervisor degrading{setup(degrading_tallies)};
  worker_pool.step({{0, Ready{100}}, {1, Ready{}}});
  worker_pool.step({{2, Ended{{Ending::Kind::killed, SIGKILL}}}});
  worker_pool.step({}, [&] {
    EXPECT_EQ(phase(), static_cast<std::uint64_t>(Phase::running));
    finish_work();
  });
  worker_pool.step({{0, Done{}}, {0, Ended{{Ending::Kind::exited, 0}}}});
  worker_pool.step({{1, Done{}}, {1, Ended{{Ending::Kind::exited, 0}}}});
  EXPECT_EQ(exit_code(degrading.run()), 0);
}

TEST_F(Restarting, TheRunWaitsForAReplicaThatIsAboutToBeStarted) {
  worker_pool.all_ready(100);
  worker_pool.step({{0, Done{}}, {0, Ended{{Ending::Kind::exited, 0}}}});
  worker_pool.step({{2, Done{}}, {2, Ended{{Ending::Kind::exited, 0}}}});
  worker_pool.step({{1, Ended{{Ending::Kind::killed, SIGKILL}}}});  // nobody is running now
  worker_pool.step({{1, Done{}}, {1, Ended{{Ending::Kind::exited, 0}}}}, [&] { finish_work(); });
  EXPECT_EQ(exit_code(restarting.run()), 0);
  EXPECT_THAT(worker_pool.restarted, ElementsAre(1));
}

TEST_F(Restarting, WhoIsKilledAfterItsWorkIsDoneIsDone) {
  worker_pool.all_ready(100);
  worker_pool.step({{1, Done{}}, {1, Ended{{Ending::Kind::killed, SIGKILL}}}},
                   [&] { finish_work(); });
  worker_pool.step({{0, Done{}}, {0, Ended{{Ending::Kind::exited, 0}}}});
  worker_pool.step({{2, Done{}}, {2, Ended{{Ending::Kind::exited, 0}}}});
  EXPECT_EQ(exit_code(restarting.run()), 0);
  EXPECT_THAT(worker_pool.restarted, ElementsAre());
}

TEST_F(Restarting, WhatCannotBeStartedAgainIsTriedAgain) {
  const auto wait = [&] { clock.advance(std::chrono::milliseconds(200)); };
  worker_pool.restart_errors = {"out of processes"};  // at once
  worker_pool.all_ready(100);
  worker_pool.step({{1, Ended{{Ending::Kind::killed, SIGKILL}}}});
  worker_pool.step({}, wait);
  worker_pool.step({{1, NotStarted{"out of memory"}}}, wait);  // later
  worker_pool.step({}, wait);
  worker_pool.step({{1, Ready{}}}, [&] { finish_work(); });
  worker_pool.all_done();
  const RunOutcome outcome = restarting.run();
  EXPECT_EQ(exit_code(outcome), 0);
  EXPECT_THAT(worker_pool.restarted, ElementsAre(1, 1));
  EXPECT_EQ(outcome.summary.figures.stages[1].restarts, 1u) << "of three that were tried";
  EXPECT_THAT(lines.lines,
              ElementsAre(HasSubstr("was killed by SIGKILL"),
                          "warning: cannot restart stage \"sink\" replica 0: out of processes; "
                          "retried in 100.0 ms (restart 2 of 5 within 30.0 s)",
                          "warning: cannot restart stage \"sink\" replica 0: out of memory; "
                          "retried in 200.0 ms (restart 3 of 5 within 30.0 s)"));
  EXPECT_EQ(lines.of(EventKind::not_started).size(), 2u);
}

TEST_F(Restarting, AFailureThatIsSaidEndsTheRunWithoutARestart) {
  worker_pool.all_ready(100);
  worker_pool.step({{1, Failed{"bad sample"}}, {1, Ended{{Ending::Kind::exited, 1}}}});
  EXPECT_EQ(exit_code(restarting.run()), 1);
  EXPECT_THAT(worker_pool.restarted, ElementsAre());
  EXPECT_EQ(lines.of(EventKind::failed).size(), 1u);
}

TEST_F(Restarting, AStopWaitsForWhoIsStartedAgain) {
  worker_pool.all_ready(100);
  worker_pool.step({}, [&] { stops->ask(SIGINT); });
  worker_pool.step({{0, Ended{{Ending::Kind::killed, SIGKILL}}}});
  worker_pool.step({}, [&] {
    EXPECT_THAT(worker_pool.restarted, ElementsAre(0));  // somebody must write up to the end
    EXPECT_EQ(control.index_spaces[0]->stop.value, static_cast<std::uint64_t>(Stop::asked));
    control.replicas[0].ack.value = 1;  // it sees the stop
  });
  worker_pool.step({}, [&] {
    EXPECT_EQ(control.index_spaces[0]->stop.value, static_cast<std::uint64_t>(Stop::end_is_set));
    finish_work();
  });
  worker_pool.all_done();
  EXPECT_EQ(exit_code(restarting.run()), 130);
}

TEST_F(Supervising, AnEndBeforeTheWorkIsDoneIsADeath) {
  worker_pool.all_ready(100);
  worker_pool.step({{0, Ended{{Ending::Kind::exited, 0}}}});
  EXPECT_THAT(supervisor.run().failure,
              "stage \"numbers\" replica 0 (pid 1000) exited with code 0 before its work was done");
}

TEST_F(Supervising, AnUnknownEndAfterTheWorkIsFine) {
  worker_pool.all_ready(100);
  worker_pool.step({}, [&] { finish_work(); });
  worker_pool.step({{0, Done{}}, {0, Ended{}}});
  worker_pool.step({{1, Done{}}, {1, Ended{}}, {2, Done{}}, {2, Ended{}}});
  EXPECT_EQ(exit_code(supervisor.run()), 0);
}

TEST_F(Supervising, AnUnknownEndBeforeItIsADeath) {
  worker_pool.all_ready(100);
  worker_pool.step({{0, Ended{}}});
  EXPECT_THAT(supervisor.run().failure, HasSubstr("ended, cause unknown"));
}

TEST_F(Supervising, WhatAReplicaSaysBeforeItFailsIsTheReason) {
  worker_pool.step(
      {{0, Ready{100}}, {1, Failed{"no such file"}}, {1, Ended{{Ending::Kind::exited, 1}}}});
  const RunOutcome outcome = supervisor.run();
  EXPECT_EQ(outcome.failure, "stage \"sink\" replica 0 (pid 1001) failed: no such file");
  EXPECT_EQ(lines.lines.size(), 1u);
}

TEST_F(Supervising, AWorkerPoolThatCannotStartIsAFailure) {
  worker_pool.start_error = "too many processes";
  EXPECT_EQ(supervisor.run().failure, "too many processes");
}

TEST_F(Restarting, AWorkerPoolThatCannotStartLaterIsAFailureToo) {
  worker_pool.step({{1, NotStarted{"too many processes"}}});
  EXPECT_EQ(restarting.run().failure, "stage \"sink\" replica 0: too many processes");
}

TEST_F(Supervising, AFailureFromOutsideEndsTheRun) {
  worker_pool.all_ready(100);
  worker_pool.step({}, [&] { supervisor.fail_from_outside("no memory"); });
  EXPECT_EQ(supervisor.run().failure, "no memory");
  EXPECT_TRUE(worker_pool.was_ended());
}

TEST_F(Supervising, AStopLetsTheLineRunDry) {
  worker_pool.all_ready(100'000);
  worker_pool.step({}, [&] { stops->ask(SIGINT); });
  worker_pool.step({}, [&] {
    EXPECT_EQ(control.index_spaces[0]->stop.value, static_cast<std::uint64_t>(Stop::asked));
    watermark(0).level.value = 640;
    control.replicas[0].ack.value = 1;
  });
  worker_pool.step({}, [&] {
    EXPECT_EQ(control.index_spaces[0]->stop.value, static_cast<std::uint64_t>(Stop::end_is_set));
    EXPECT_EQ(end(), 640u);
    finish_work();
  });
  worker_pool.all_done();
  const RunOutcome outcome = supervisor.run();
  EXPECT_EQ(exit_code(outcome), 130);
  EXPECT_TRUE(outcome.ended_by_itself());
  EXPECT_FALSE(worker_pool.was_ended());
  EXPECT_THAT(lines.lines, ElementsAre(HasSubstr("note: stopping: the pipeline drains")));
}

TEST_F(Supervising, ASecondStopEndsItAtOnce) {
  worker_pool.all_ready(100);
  worker_pool.step({}, [&] { stops->ask(SIGTERM); });
  worker_pool.step({}, [&] { stops->ask(SIGINT); });
  const RunOutcome outcome = supervisor.run();
  EXPECT_EQ(exit_code(outcome), 143);
  EXPECT_TRUE(worker_pool.was_ended());
  EXPECT_FALSE(outcome.ended_by_itself());
}

TEST_F(Supervising, ALineThatDoesNotRunDryIsEndedAtItsDeadline) {
  worker_pool.all_ready(100);
  worker_pool.step({}, [&] { stops->ask(SIGTERM); });
  worker_pool.step({}, [&] { clock.advance(std::chrono::nanoseconds(plan.drain_ns - 1)); });
  worker_pool.step({}, [&] {
    EXPECT_FALSE(worker_pool.was_ended());
    clock.advance(std::chrono::nanoseconds(1));
  });
  EXPECT_EQ(exit_code(supervisor.run()), 143);
  EXPECT_THAT(lines.lines, Contains(HasSubstr("warning: the pipeline did not drain within 10.0")));
}

TEST_F(Supervising, AStopBeforeTheStartEndsItAtOnce) {
  worker_pool.step({{0, Ready{100}}}, [&] { stops->ask(SIGINT); });
  EXPECT_EQ(exit_code(supervisor.run()), 130);
  EXPECT_TRUE(worker_pool.was_ended());
}

TEST_F(Supervising, AStopFromBeforeStartsNobody) {
  worker_pool.start_error = "somebody was started";
  EXPECT_EQ(supervisor.run().failure, "somebody was started");  // the control
  Supervisor stopped(setup(tallies));
  stops->ask(SIGINT);
  const RunOutcome outcome = stopped.run();
  EXPECT_EQ(outcome.failure, "");
  EXPECT_EQ(exit_code(outcome), 130);
  EXPECT_THAT(lines.lines, Contains("note: stopped before the run started").Times(1));
}

TEST_F(Supervising, ADeathWhileItDrainsIsAFailure) {
  worker_pool.all_ready(100);
  worker_pool.step({}, [&] { stops->ask(SIGINT); });
  worker_pool.step({{1, Ended{{Ending::Kind::killed, SIGSEGV}}}});
  EXPECT_EQ(exit_code(supervisor.run()), 1);
}

TEST_F(Supervising, AuditsThatDoNotBalanceFailTheRun) {
  worker_pool.all_ready(100);
  worker_pool.step({}, [&] {
    finish_work();
    watermark(1).level.value = 64;
  });
  worker_pool.all_done();
  const RunOutcome outcome = supervisor.run();
  EXPECT_EQ(exit_code(outcome), 1);
  EXPECT_THAT(outcome.failure, HasSubstr("the audit does not balance: edge numbers -> sink"));
}

TEST_F(Supervising, NumbersOfStagesArriveAndTheirLinesWhichMayBeOfOneReplicaOnly) {
  worker_pool.all_ready(100);
  worker_pool.step({{1, Reported{"loss", 0.5}}, {1, Reported{"loss", 0.25}}, {1, Logged{"hello"}}});
  worker_pool.step({{1, Logged{"a.tif", "left out"}}, {2, Logged{"b.tif", "left out"}}});
  worker_pool.step({{0, Logged{"c.tif", "left out"}}}, [&] { finish_work(); });
  worker_pool.all_done();
  EXPECT_EQ(supervisor.run().summary.results.at(1).second.at(0).name, "loss");
  EXPECT_THAT(lines.lines,
              ElementsAre("output: sink: hello", "output: sink: a.tif", "output: numbers: c.tif"));
}

TEST_F(Supervising, ProgressIsShownAsOftenAsItIsWanted) {
  lines.every_ns = 1'000'000'000;
  Supervisor with_progress{setup(tallies)};
  worker_pool.step({{0, Ready{100}}}, [&] { clock.advance(std::chrono::seconds(1)); });
  worker_pool.step({{1, Ready{}}, {2, Ready{}}});
  for (int i = 0; i < 4; ++i)
    worker_pool.step({}, [&] { clock.advance(std::chrono::milliseconds(500)); });
  worker_pool.step({}, [&] { finish_work(); });
  worker_pool.all_done();
  with_progress.run();
  EXPECT_THAT(lines.progress_lines, ElementsAre("opening sink.0, sink.1", HasSubstr("epoch 1/1")));
}

}  // namespace
}  // namespace brigade
