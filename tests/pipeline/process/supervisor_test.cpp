#include "pipeline/process/supervisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "pipeline/process/segments.h"
#include "pipeline/stats/counters.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_crew.h"
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
  std::unique_ptr<Segments> segments = Segments::create(plan, "{}").value();
  Control<SystemPolicy>& control = segments->control();
  FakeCrew crew{3};
  std::unique_ptr<StopRequests> stops = StopRequests::create(false).value();
  KeepingLines lines;
  FakeClock clock{1'000'000'000};
  StageTypes types;
  RecoveryBooks books{plan};
  Supervisor supervisor{{plan, types, control, crew, *stops, lines, clock, 0, "", {}, books}};

  std::uint64_t phase() const { return control.phase->value.load(); }
  std::uint64_t end() const { return control.domains[0]->end.value.load(); }
  Mark<SystemPolicy>& mark(int stage) {
    return *control.stages[static_cast<std::size_t>(stage)].lanes[0].mark;
  }
  // As if all work were done.
  void finish_work() {
    for (int stage : {0, 1}) mark(stage).low.value = end();
  }
};

TEST_F(Supervising, ARunGoesFromReadyToDone) {
  crew.all_ready(100);
  crew.step({}, [&] {
    EXPECT_EQ(phase(), static_cast<std::uint64_t>(Phase::running));
    EXPECT_EQ(end(), 128u);  // 100 rounded up to the tasks of 64
    EXPECT_EQ(control.domains[0]->epoch_samples.value, 100u);
    finish_work();
  });
  crew.all_done();
  const RunOutcome outcome = supervisor.run();
  EXPECT_EQ(outcome.failure, "");
  EXPECT_TRUE(outcome.ended_by_itself);
  EXPECT_EQ(exit_code(outcome), 0);
  EXPECT_THAT(lines.lines, ElementsAre());
}

TEST_F(Supervising, NobodyStartsBeforeEverybodyIsReady) {
  crew.step({{0, Ready{100}}, {1, Ready{}}});
  crew.step({}, [&] { EXPECT_EQ(phase(), static_cast<std::uint64_t>(Phase::starting)); });
  crew.step({{2, Ready{}}});
  crew.step({}, [&] {
    EXPECT_EQ(phase(), static_cast<std::uint64_t>(Phase::running));
    finish_work();
  });
  crew.all_done();
  EXPECT_EQ(exit_code(supervisor.run()), 0);
}

TEST_F(Supervising, ADeathEndsTheRunWithOneLine) {
  crew.all_ready(100);
  crew.step({{1, Printed{"about to break"}}}, [&] { control.replicas[1].at.value = 7; });
  crew.step({{1, Ended{{Ending::Kind::killed, SIGSEGV}}}});
  const RunOutcome outcome = supervisor.run();
  EXPECT_EQ(exit_code(outcome), 1);
  EXPECT_TRUE(crew.was_ended());
  EXPECT_THAT(lines.lines,
              ElementsAre("output: sink.0: about to break",
                          "error: stage \"sink\" replica 0 (pid 1001) was killed by SIGSEGV with "
                          "sample 7 in hand (epoch 0, index 7, id 7); its last output: "
                          "\"about to break\""));
}

TEST_F(Supervising, ADeathIsRepairedBeforeAnythingElse) {
  auto& word = control.stages[1].lanes[0].table;
  crew.all_ready(100);
  crew.step({}, [&] { word.word(0) = word.claimed(0, 2); });
  crew.step({{2, Ended{{Ending::Kind::killed, SIGKILL}}}});
  supervisor.run();
  EXPECT_EQ(word.read(word.word(0), 0).state, TaskState::open);
  EXPECT_EQ(control.stages[1].repairs->value, 1u);
}

struct Restarting : Supervising {
  static Plan& restarting_plan(Plan& plan) {
    for (PlanStage& stage : plan.stages) stage.restart.policy = RestartSpec::Policy::on_failure;
    return plan;
  }
  RecoveryBooks restarting_books{restarting_plan(plan)};
  Supervisor restarting{
      {plan, types, control, crew, *stops, lines, clock, 0, "", {}, restarting_books}};
};

TEST_F(Restarting, ADeadReplicaIsStartedAgainAndTheRunGoesOn) {
  crew.all_ready(100);
  crew.step({{1, Ended{{Ending::Kind::killed, SIGKILL}}}});
  crew.step({{1, Ready{}}}, [&] {
    EXPECT_THAT(crew.restarted, ElementsAre(1));
    EXPECT_EQ(phase(), static_cast<std::uint64_t>(Phase::running));
    finish_work();
  });
  crew.all_done();
  const RunOutcome outcome = restarting.run();
  EXPECT_EQ(exit_code(outcome), 0);
  EXPECT_EQ(outcome.summary.figures.stages[1].restarts, 1u);
  EXPECT_THAT(lines.lines, ElementsAre(HasSubstr("warning: stage \"sink\" replica 0 (pid 1001) was "
                                                 "killed by SIGKILL")));
}

TEST_F(Supervising, AStallIsSaidAndEndedWhereItIsAskedFor) {
  plan.stages[1].stall = {10'000'000'000, true};
  Supervisor watching{{plan, types, control, crew, *stops, lines, clock, 0, "", {}, books}};
  crew.all_ready(100);
  crew.step({}, [&] {
    live_counters(control, 1).since_ns = 1;
    control.replicas[1].at.value = 7;
  });
  for (int second = 0; second < 40; ++second) {
    crew.step({}, [&] { clock.advance(std::chrono::seconds(1)); });
  }
  crew.step({}, [&] { finish_work(); });
  crew.all_done();
  watching.run();
  EXPECT_THAT(crew.signals, ElementsAre(std::pair{1, SIGABRT}, std::pair{1, SIGKILL}));
  EXPECT_THAT(lines.lines, ElementsAre(HasSubstr("has been at sample 7 for"),
                                       HasSubstr("; aborted"), HasSubstr("; killed")));
}

TEST_F(Supervising, TheLinesOfABacktraceAreShownButAreNoLastWords) {
  crew.all_ready(100);
  crew.step({{1, Printed{"about to break"}}, {1, Printed{"backtrace: somewhere"}}});
  crew.step({{1, Ended{{Ending::Kind::killed, SIGSEGV}}}});
  EXPECT_THAT(supervisor.run().failure, testing::EndsWith("its last output: \"about to break\""));
  EXPECT_THAT(lines.lines, Contains("output: sink.0: backtrace: somewhere"));
}

TEST_F(Supervising, TheRunBeginsWithoutAReplicaThatIsGoneForGood) {
  plan.stages[1].restart.degrade = true;
  RecoveryBooks degrading_books{plan};
  Supervisor degrading{
      {plan, types, control, crew, *stops, lines, clock, 0, "", {}, degrading_books}};
  crew.step({{0, Ready{100}}, {1, Ready{}}});
  crew.step({{2, Ended{{Ending::Kind::killed, SIGKILL}}}});
  crew.step({}, [&] {
    EXPECT_EQ(phase(), static_cast<std::uint64_t>(Phase::running));
    finish_work();
  });
  crew.step({{0, Done{}}, {0, Ended{{Ending::Kind::exited, 0}}}});
  crew.step({{1, Done{}}, {1, Ended{{Ending::Kind::exited, 0}}}});
  EXPECT_EQ(exit_code(degrading.run()), 0);
}

TEST_F(Restarting, TheSecondTimeItWaits) {
  crew.all_ready(100);
  crew.step({{1, Ended{{Ending::Kind::killed, SIGKILL}}}});
  crew.step({{1, Ready{}}});
  crew.step({{1, Ended{{Ending::Kind::killed, SIGKILL}}}});
  crew.step({}, [&] {
    EXPECT_EQ(crew.restarted.size(), 1u);
    clock.advance(std::chrono::nanoseconds(99'000'000));
  });
  crew.step({}, [&] {
    EXPECT_EQ(crew.restarted.size(), 1u);
    clock.advance(std::chrono::nanoseconds(1'000'000));
  });
  crew.step({}, [&] {
    EXPECT_EQ(crew.restarted.size(), 2u);
    finish_work();
  });
  crew.all_done();
  EXPECT_EQ(exit_code(restarting.run()), 0);
}

TEST_F(Restarting, TheRunWaitsForAReplicaThatIsAboutToBeStarted) {
  crew.all_ready(100);
  crew.step({{0, Done{}}, {0, Ended{{Ending::Kind::exited, 0}}}});
  crew.step({{2, Done{}}, {2, Ended{{Ending::Kind::exited, 0}}}});
  crew.step({{1, Ended{{Ending::Kind::killed, SIGKILL}}}});  // nobody is running now
  crew.step({{1, Done{}}, {1, Ended{{Ending::Kind::exited, 0}}}}, [&] { finish_work(); });
  EXPECT_EQ(exit_code(restarting.run()), 0);
  EXPECT_THAT(crew.restarted, ElementsAre(1));
}

TEST_F(Restarting, WhoIsKilledAfterItsWorkIsDoneIsDone) {
  crew.all_ready(100);
  crew.step({{1, Done{}}, {1, Ended{{Ending::Kind::killed, SIGKILL}}}}, [&] { finish_work(); });
  crew.step({{0, Done{}}, {0, Ended{{Ending::Kind::exited, 0}}}});
  crew.step({{2, Done{}}, {2, Ended{{Ending::Kind::exited, 0}}}});
  EXPECT_EQ(exit_code(restarting.run()), 0);
  EXPECT_THAT(crew.restarted, ElementsAre());
}

TEST_F(Restarting, WhatCannotBeStartedAgainIsTriedAgain) {
  const auto wait = [&] { clock.advance(std::chrono::milliseconds(200)); };
  crew.restart_errors = {"stage \"sink\" replica 0: out of processes"};  // at once
  crew.all_ready(100);
  crew.step({{1, Ended{{Ending::Kind::killed, SIGKILL}}}});
  crew.step({}, wait);
  crew.step({{1, NotStarted{"stage \"sink\" replica 0: out of memory"}}}, wait);  // later
  crew.step({}, wait);
  crew.step({{1, Ready{}}}, [&] { finish_work(); });
  crew.all_done();
  const RunOutcome outcome = restarting.run();
  EXPECT_EQ(exit_code(outcome), 0);
  EXPECT_THAT(crew.restarted, ElementsAre(1, 1));
  EXPECT_EQ(outcome.summary.figures.stages[1].restarts, 1u) << "of three that were tried";
  EXPECT_THAT(lines.lines,
              ElementsAre(HasSubstr("was killed by SIGKILL"),
                          "warning: cannot start again stage \"sink\" replica 0: out of processes; "
                          "tried again in 100.0 ms (restart 2 of 5 within 30.0 s)",
                          "warning: cannot start again stage \"sink\" replica 0: out of memory; "
                          "tried again in 200.0 ms (restart 3 of 5 within 30.0 s)"));
}

TEST_F(Restarting, AFailureThatIsSaidEndsTheRunWithoutARestart) {
  crew.all_ready(100);
  crew.step({{1, Failed{"bad sample"}}, {1, Ended{{Ending::Kind::exited, 1}}}});
  EXPECT_EQ(exit_code(restarting.run()), 1);
  EXPECT_THAT(crew.restarted, ElementsAre());
}

TEST_F(Restarting, AStopWaitsForWhoIsStartedAgain) {
  crew.all_ready(100);
  crew.step({}, [&] { stops->ask(SIGINT); });
  crew.step({{0, Ended{{Ending::Kind::killed, SIGKILL}}}});
  crew.step({}, [&] {
    EXPECT_THAT(crew.restarted, ElementsAre(0));  // somebody must write up to the end
    EXPECT_EQ(control.domains[0]->stop.value, static_cast<std::uint64_t>(Stop::asked));
    control.replicas[0].ack.value = 1;  // it sees the stop
  });
  crew.step({}, [&] {
    EXPECT_EQ(control.domains[0]->stop.value, static_cast<std::uint64_t>(Stop::end_is_set));
    finish_work();
  });
  crew.all_done();
  EXPECT_EQ(exit_code(restarting.run()), 130);
}

TEST_F(Supervising, AnEndBeforeTheWorkIsDoneIsADeath) {
  crew.all_ready(100);
  crew.step({{0, Ended{{Ending::Kind::exited, 0}}}});
  EXPECT_THAT(supervisor.run().failure,
              "stage \"numbers\" replica 0 (pid 1000) exited with code 0 before its work was done");
}

TEST_F(Supervising, AnUnknownEndAfterTheWorkIsFine) {
  crew.all_ready(100);
  crew.step({}, [&] { finish_work(); });
  crew.step({{0, Done{}}, {0, Ended{}}});
  crew.step({{1, Done{}}, {1, Ended{}}, {2, Done{}}, {2, Ended{}}});
  EXPECT_EQ(exit_code(supervisor.run()), 0);
}

TEST_F(Supervising, AnUnknownEndBeforeItIsADeath) {
  crew.all_ready(100);
  crew.step({{0, Ended{}}});
  EXPECT_THAT(supervisor.run().failure, HasSubstr("ended, cause unknown"));
}

TEST_F(Supervising, WhatAReplicaSaysBeforeItFailsIsTheReason) {
  crew.step({{0, Ready{100}}, {1, Failed{"no such file"}}, {1, Ended{{Ending::Kind::exited, 1}}}});
  const RunOutcome outcome = supervisor.run();
  EXPECT_EQ(outcome.failure, "stage \"sink\" replica 0 (pid 1001) failed: no such file");
  EXPECT_EQ(lines.lines.size(), 1u);
}

TEST_F(Supervising, ACrewThatCannotStartIsAFailure) {
  crew.start_error = "too many processes";
  EXPECT_EQ(supervisor.run().failure, "too many processes");
}

TEST_F(Restarting, ACrewThatCannotStartLaterIsAFailureToo) {
  crew.step({{1, NotStarted{"too many processes"}}});
  EXPECT_EQ(restarting.run().failure, "too many processes");
}

TEST_F(Supervising, AFailureFromOutsideEndsTheRun) {
  crew.all_ready(100);
  crew.step({}, [&] { supervisor.fail_from_outside("no memory"); });
  EXPECT_EQ(supervisor.run().failure, "no memory");
  EXPECT_TRUE(crew.was_ended());
}

TEST_F(Supervising, AnEmptySourceEndsTheRun) {
  crew.all_ready(0);
  EXPECT_THAT(supervisor.run().failure, HasSubstr("source \"numbers\" has no samples"));
}

TEST_F(Supervising, AStopLetsTheLineRunDry) {
  crew.all_ready(100'000);
  crew.step({}, [&] { stops->ask(SIGINT); });
  crew.step({}, [&] {
    EXPECT_EQ(control.domains[0]->stop.value, static_cast<std::uint64_t>(Stop::asked));
    mark(0).low.value = 640;
    control.replicas[0].ack.value = 1;
  });
  crew.step({}, [&] {
    EXPECT_EQ(control.domains[0]->stop.value, static_cast<std::uint64_t>(Stop::end_is_set));
    EXPECT_EQ(end(), 640u);
    finish_work();
  });
  crew.all_done();
  const RunOutcome outcome = supervisor.run();
  EXPECT_EQ(exit_code(outcome), 130);
  EXPECT_TRUE(outcome.ended_by_itself);
  EXPECT_FALSE(crew.was_ended());
  EXPECT_THAT(lines.lines, ElementsAre(HasSubstr("note: stopping: the line runs dry")));
}

TEST_F(Supervising, ASecondStopEndsItAtOnce) {
  crew.all_ready(100);
  crew.step({}, [&] { stops->ask(SIGTERM); });
  crew.step({}, [&] { stops->ask(SIGINT); });
  const RunOutcome outcome = supervisor.run();
  EXPECT_EQ(exit_code(outcome), 143);
  EXPECT_TRUE(crew.was_ended());
  EXPECT_FALSE(outcome.ended_by_itself);
}

TEST_F(Supervising, ALineThatDoesNotRunDryIsEndedAtItsDeadline) {
  crew.all_ready(100);
  crew.step({}, [&] { stops->ask(SIGTERM); });
  crew.step({}, [&] { clock.advance(std::chrono::nanoseconds(plan.drain_ns - 1)); });
  crew.step({}, [&] {
    EXPECT_FALSE(crew.was_ended());
    clock.advance(std::chrono::nanoseconds(1));
  });
  EXPECT_EQ(exit_code(supervisor.run()), 143);
  EXPECT_THAT(lines.lines, Contains(HasSubstr("warning: the line did not run dry within 10.0 s")));
}

TEST_F(Supervising, AStopBeforeTheStartEndsItAtOnce) {
  crew.step({{0, Ready{100}}}, [&] { stops->ask(SIGINT); });
  EXPECT_EQ(exit_code(supervisor.run()), 130);
  EXPECT_TRUE(crew.was_ended());
}

TEST_F(Supervising, ADeathWhileItRunsDryIsAFailure) {
  crew.all_ready(100);
  crew.step({}, [&] { stops->ask(SIGINT); });
  crew.step({{1, Ended{{Ending::Kind::killed, SIGSEGV}}}});
  EXPECT_EQ(exit_code(supervisor.run()), 1);
}

TEST_F(Supervising, BooksThatDoNotBalanceFailTheRun) {
  crew.all_ready(100);
  crew.step({}, [&] {
    finish_work();
    mark(1).low.value = 64;
  });
  crew.all_done();
  const RunOutcome outcome = supervisor.run();
  EXPECT_EQ(exit_code(outcome), 1);
  EXPECT_THAT(outcome.failure, HasSubstr("the books do not balance: edge numbers -> sink"));
}

TEST_F(Supervising, NumbersAndLinesOfStagesArriveInTheSummary) {
  crew.all_ready(100);
  crew.step({{1, Reported{"loss", 0.5}}, {1, Reported{"loss", 0.25}}, {1, Said{"hello"}}},
            [&] { finish_work(); });
  crew.all_done();
  const RunOutcome outcome = supervisor.run();
  EXPECT_THAT(lines.lines, ElementsAre("output: sink: hello"));
  ASSERT_EQ(outcome.summary.results.size(), 2u);
  EXPECT_EQ(outcome.summary.results[1].first, "sink");
  EXPECT_EQ(outcome.summary.results[1].second[0].name, "loss");
}

TEST_F(Supervising, ProgressIsShownAsOftenAsItIsWanted) {
  lines.every_ns = 1'000'000'000;
  Supervisor with_progress({plan, types, control, crew, *stops, lines, clock, 0, "", {}, books});
  crew.step({{0, Ready{100}}}, [&] { clock.advance(std::chrono::seconds(1)); });
  crew.step({{1, Ready{}}, {2, Ready{}}});
  for (int i = 0; i < 4; ++i) {
    crew.step({}, [&] { clock.advance(std::chrono::milliseconds(500)); });
  }
  crew.step({}, [&] { finish_work(); });
  crew.all_done();
  with_progress.run();
  EXPECT_THAT(lines.progress_lines, ElementsAre("opening sink.0, sink.1", HasSubstr("epoch 1/1")));
}

}  // namespace
}  // namespace brigade
