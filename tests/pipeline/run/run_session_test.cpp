#include "pipeline/run/run_session.h"
#include "pipeline/api/load_and_plan.h"
#include "pipeline/run/run_attempt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include <brigade/text.h>
#include "stages/builtin.h"
#include "tests/support/session.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::string faulty(const std::string& open, const std::string& process = "fine") {
  return line_yaml("consumer: faulty, params: {open: " + open + ", process: " + process + "}");
}

int descriptors() {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

bool has_children() {
  siginfo_t info;
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

TEST(RunSession, LeavesNothingBehind) {
  Session session;
  session.run(line_yaml("consumer: count"));
  const int before = descriptors();
  session.run(line_yaml("consumer: count, replicas: 3"));
  session.run(faulty("crash"));
  EXPECT_EQ(descriptors(), before);
  EXPECT_FALSE(has_children());
}

/// numbers -> up -> down -> end, the second edge on a device; `end`: the consumer.
std::string device_yaml(const std::string& end) {
  return "stages:\n"
         "  numbers: {producer: synthetic, params: {count: 100, shape: [4], name: x}, batch: 20}\n"
         "  up: {transform: to_device, from: numbers, params: {tensor: x}, batch: 20,"
         " device: host, memory: device}\n"
         "  down: {transform: from_device, from: up, params: {tensor: x}, batch: 20,"
         " device: host}\n"
         "  end: {from: down, " +
         end + "}\n";
}

/// Workers are this program, but for those that make a device's memory: from this one on they do
/// that and hang.
struct HangingMaker {
  HangingMaker(Session& session, int from, const std::string& does) {
    session.options.workers = folder.write(
        "maker", concat("#!/bin/sh\ncase $BRIGADE_WORKER in *up.memory*)\n  echo >> ", asked(),
                        "\n  [ $(wc -l < ", asked(), ") -lt ", from, " ] || { ", does,
                        "; exec sleep 1000; };;\nesac\nexec ",
                        std::filesystem::read_symlink("/proc/self/exe").native(), "\n"));
    std::filesystem::permissions(session.options.workers, std::filesystem::perms::owner_all);
  }
  std::string asked() const { return folder.path() / "asked"; }
  bool was_asked(int times) const {
    return std::filesystem::exists(asked()) &&
           std::filesystem::file_size(asked()) == static_cast<std::uintmax_t>(times);
  }
  const TemporaryFolder folder;
};

struct StopsOfDevices : testing::Test {
  StopsOfDevices() {
    signal(SIGINT, SIG_DFL);  // a shell's `&` ignores it
    session.options.handle_signals = true;
  }
  Session session;
};

TEST_F(StopsOfDevices, WhileTheirMemoryIsMadeAreThoseOfAStageThatOpens) {
  Session opening;
  const auto hangs = opening.start(faulty("hang"));
  hangs->stop(SIGINT);
  const RunOutcome& wanted = hangs->wait();
  const HangingMaker maker(session, 1, "kill -INT $PPID");
  const RunOutcome found = session.run(device_yaml("consumer: count"));
  EXPECT_TRUE(maker.was_asked(1));
  EXPECT_EQ(found.end, wanted.end);
  EXPECT_EQ(exit_code(found), 130);
  EXPECT_EQ(exit_code(wanted), 130);
  EXPECT_EQ(found.failure, "");
  EXPECT_EQ(session.lines.lines, opening.lines.lines);
  EXPECT_THAT(session.lines.lines, ElementsAre("note: stopped before the run started"));
  EXPECT_EQ(found.summary.figures.stages.size(), 4u);
  EXPECT_EQ(found.summary.edges.size(), 3u);
  while (has_children()) std::this_thread::yield();  // one that was killed may end later
}

/// Each crash of the consumer that saves has the memory made anew.
std::string crashing_yaml(const TemporaryFolder& folder) {
  return concat("checkpoint: {file: ", (folder.path() / "line.ckpt").native(), "}\n",
                device_yaml("consumer: saving, params: {crash_at: 50}, restart: {policy: "
                            "on_failure, burst: 1}"));
}

TEST_F(StopsOfDevices, WhileTheirMemoryIsMadeOnceMoreEndTheRun) {
  const HangingMaker maker(session, 2, "kill -INT $PPID");
  const RunOutcome found = session.run(crashing_yaml(maker.folder));
  EXPECT_TRUE(maker.was_asked(2));
  EXPECT_EQ(found.end, RunEnd::stopped);
  EXPECT_EQ(exit_code(found), 130) << found.failure;
  EXPECT_THAT(session.lines.lines,
              Contains(HasSubstr("the run resumes from its last checkpoint")).Times(1));
  EXPECT_EQ(session.lines.lines.back(), "note: stopped before the run started");
  while (has_children()) std::this_thread::yield();  // one that was killed may end later
}

TEST_F(StopsOfDevices, AreWhatEndsThatRun) {
  const HangingMaker maker(session, 3, ":");  // the control
  const RunOutcome found = session.run(crashing_yaml(maker.folder));
  EXPECT_TRUE(maker.was_asked(2));
  EXPECT_EQ(exit_code(found), 1);
  EXPECT_THAT(found.failure, HasSubstr("was killed by SIGSEGV"));
}

struct Way {
  const char* open;
  const char* process;
  const char* said;
};

class EveryWayToGoWrong : public testing::TestWithParam<Way> {};

TEST_P(EveryWayToGoWrong, EndsTheRunWithOneLineThatNamesTheStage) {
  Session session;
  const RunOutcome outcome = session.run(faulty(GetParam().open, GetParam().process));
  EXPECT_EQ(exit_code(outcome), 1);
  EXPECT_THAT(outcome.failure, HasSubstr("stage \"end\" replica 0 (pid "));
  EXPECT_THAT(outcome.failure, HasSubstr(GetParam().said));
  EXPECT_THAT(session.lines.lines, Contains("error: " + outcome.failure).Times(1));
  EXPECT_FALSE(has_children());
}

INSTANTIATE_TEST_SUITE_P(
    All, EveryWayToGoWrong,
    testing::Values(
        Way{"crash", "fine", "was killed by SIGSEGV"}, Way{"fail", "fine", "it failed as told"},
        Way{"throw", "fine", "it threw as told"}, Way{"exit", "fine", "exited with code 3"},
        Way{"quiet_exit", "fine", "exited with code 0 before its work was done"},
        Way{"fine", "crash", "was killed by SIGSEGV with sample 0 in flight"},
        Way{"fine", "fail", "it failed as told"}, Way{"fine", "throw", "it threw as told"},
        Way{"fine", "exit", "exited with code 3"},
        Way{"fine", "quiet_exit", "exited with code 0 before its work was done"}),
    [](const auto& way) {
      return std::string("Open_") + way.param.open + "_Process_" + way.param.process;
    });

TEST(RunSession, OutputOfWorkersIsShownWithTheirName) {
  Session session;
  session.run(line_yaml("consumer: faulty, params: {process: print}", 1));
  EXPECT_THAT(session.lines.lines, Contains("output: end.0: printed to stdout"));
  EXPECT_THAT(session.lines.lines, Contains("output: end.0: printed to stderr"));
  EXPECT_THAT(session.lines.lines, Contains("output: end.0: and no end of line"));
}

TEST(RunSession, AChildThatAStageLeavesBehindDoesNotHoldTheRun) {
  Session session;
  const RunOutcome outcome = session.run(faulty("fine", "leave_child"));
  EXPECT_EQ(exit_code(outcome), 0);
}

TEST(RunSession, NumbersOfTheLastCallArrive) {
  Session session;
  const RunOutcome outcome = session.run(faulty("fine", "report"));
  ASSERT_FALSE(outcome.summary.results.at(1).second.empty());
  EXPECT_EQ(outcome.summary.results.at(1).second.at(0).value, ReportedValue(std::uint64_t{1000}));
}

TEST(RunSession, AStopWhileAStageOpensEndsItAtOnce) {
  Session session;
  const auto run = session.start(faulty("hang"));
  run->stop(SIGTERM);
  EXPECT_EQ(exit_code(run->wait()), 143);
  EXPECT_FALSE(has_children());
}

TEST(RunSession, AWorkerThatStandsStillIsNotDeclaredDead) {
  Session session;
  const auto run = session.start(faulty("fine", "stop"));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  run->stop(SIGINT);  // cannot drain
  run->stop(SIGINT);
  EXPECT_EQ(exit_code(run->wait()), 130);
}

TEST(RunSession, GoneBeforeItsEndItEndsTheRun) {
  Session session;
  { const auto run = session.start(faulty("hang")); }
  EXPECT_FALSE(has_children());
}

TEST(RunSession, AStageTypeThatWorkersDoNotKnowIsSaid) {
  Session session;
  struct Own : Stage {
    Result<Next> process(const Inputs&, Outputs&) override { return Next::emit; }
  };
  struct OwnParams {};
  session.types.add<Own>(Contract<OwnParams>("own", "Own.").consumer());
  EXPECT_THAT(session.run(line_yaml("consumer: own")).failure,
              HasSubstr("this program has no stage type \"own\""));
}

struct Files : testing::Test {
  TemporaryFolder folder;
  StageTypes types = builtin_stage_types();

  PlannedGraph planned(const std::string& text, std::vector<std::string> sets = {}) {
    return plan_files({{folder.write("graph.yaml", text)}, std::move(sets), {}}, types);
  }
};

TEST_F(Files, MistakesHaveTheirPlace) {
  const PlannedGraph graph = planned(line_yaml("consumer: cuont"));
  EXPECT_FALSE(graph.plan);
  EXPECT_THAT(graph.messages, HasSubstr("graph.yaml:3:"));
  EXPECT_THAT(graph.messages, HasSubstr("did you mean \"count\"?"));
}

TEST_F(Files, WhatDoesNotFitTheMachineHasItsPlaceToo) {
  const PlannedGraph graph = planned("memory: 1MiB\n" + line_yaml("consumer: count"),
                                     {"stages.numbers.params.shape=[1000000]"});
  EXPECT_FALSE(graph.plan);
  EXPECT_TRUE(graph.loaded.graph);
  EXPECT_THAT(graph.messages, HasSubstr("graph.yaml:3:"));
  EXPECT_THAT(graph.messages, HasSubstr("stage \"numbers\": the graph needs"));
}

}  // namespace
}  // namespace brigade
