#include "pipeline/run/launch/process_pool.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "tests/support/fake_runner.h"
#include "tests/support/small_plan.h"

namespace brigade {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::StartsWith;

// numbers.0 is number 0 in the graph, sink.0 and sink.1 are 1 and 2.
struct Pooled : testing::Test {
  Plan plan = small_plan(2);
  std::unique_ptr<SharedSegments> segments = SharedSegments::create(plan, {}).value();
  StageTypes types;
  FakeRunner runner;
  std::unique_ptr<ProcessPool> worker_pool;

  void make(std::vector<std::string> environment = {"HOME=/home/anna"}) {
    worker_pool =
        ProcessPool::create(plan, *segments, types, runner, std::move(environment)).value();
  }
  void start() {
    make();
    ASSERT_TRUE(worker_pool->start().ok());
    taken();
  }
  /// Each answer to a start has the next one started.
  std::vector<WorkerEvent> all_events() {
    std::vector<WorkerEvent> all;
    for (pollfd ready{worker_pool->event_fd(), POLLIN, 0}; poll(&ready, 1, 0) == 1;) {
      for (WorkerEvent& event : worker_pool->take_events()) all.push_back(std::move(event));
      worker_pool->collect();
    }
    return all;
  }
  void end_everybody() {
    for (std::size_t i = 0; i < runner.started.size(); ++i) {
      if (!runner.started[i].reaped) runner.end(i, {Ending::Kind::exited, 0});
    }
    worker_pool->take_events();
  }
  std::vector<std::string> taken() {
    std::vector<std::string> texts;
    for (const WorkerEvent& event : all_events()) {
      const std::string who = std::to_string(event.replica);
      if (const auto* printed = std::get_if<Printed>(&event.what))
        texts.push_back(who + " printed " + printed->line);
      if (const auto* said = std::get_if<Logged>(&event.what))
        texts.push_back(who + " said " + said->line);
      if (const auto* ended = std::get_if<Ended>(&event.what))
        texts.push_back(who + " " + ending_text(ended->ending));
      if (std::holds_alternative<Done>(event.what)) texts.push_back(who + " done");
      if (const auto* failed = std::get_if<NotStarted>(&event.what))
        texts.push_back(who + " not started: " + failed->message);
    }
    return texts;
  }
};

TEST_F(Pooled, EveryReplicaIsAProcessWithItsName) {
  start();
  ASSERT_EQ(runner.started.size(), 3u);
  EXPECT_EQ(runner.started[0].request.title, "brigade: numbers.0");
  EXPECT_EQ(runner.started[2].request.title, "brigade: sink.1");
  EXPECT_EQ(worker_pool->running(), 3);
  EXPECT_EQ(worker_pool->pid(2), 5003);
  end_everybody();
  EXPECT_EQ(worker_pool->running(), 0);
}

TEST_F(Pooled, AReplicaIsStartedAgainUnderItsNumber) {
  make({"BRIGADE_FAULT=sink.0=work.start:1:kill", "HOME=/home/anna"});
  ASSERT_TRUE(worker_pool->start().ok());
  taken();
  EXPECT_THAT(runner.started[1].request.environment, Contains(StartsWith("BRIGADE_FAULT=")));
  runner.print(1, "cut o");
  runner.end(1, {Ending::Kind::killed, 9});
  EXPECT_THAT(taken(), ElementsAre("1 printed cut o", "1 was killed by SIGKILL"));
  EXPECT_EQ(worker_pool->running(), 2);
  ASSERT_TRUE(worker_pool->restart(1).ok());
  EXPECT_EQ(worker_pool->running(), 3);
  ASSERT_EQ(runner.started.size(), 4u);
  WorkerRole before = runner.started[1].role;
  before.report_fd = runner.started[3].role.report_fd;
  EXPECT_EQ(runner.started[3].role, before);
  EXPECT_THAT(runner.started[3].request.environment, Not(Contains(StartsWith("BRIGADE_FAULT="))));
  taken();
  runner.print(3, "back\n");
  runner.report(3, {1, Logged{"hello"}});
  EXPECT_THAT(taken(), testing::UnorderedElementsAre("1 printed back", "1 said hello"));
  end_everybody();
  EXPECT_EQ(worker_pool->running(), 0);
}

// A process that is being started has copies of all descriptors until its exec is through.
TEST_F(Pooled, EventsOfTheDeadAreNotTakenForItsSuccessors) {
  start();
  const OwnedFd copy(dup(runner.started[1].pidfd));
  runner.end(1, {Ending::Kind::killed, 9});
  EXPECT_THAT(taken(), ElementsAre("1 was killed by SIGKILL"));
  ASSERT_TRUE(worker_pool->restart(1).ok());
  EXPECT_THAT(taken(), ElementsAre());
  EXPECT_EQ(worker_pool->running(), 3);
}

TEST_F(Pooled, WhatCannotBeStartedAgainSaysWhy) {
  start();
  runner.end(2, {Ending::Kind::killed, 9});
  taken();
  runner.fail_at = 3;
  ASSERT_TRUE(worker_pool->restart(2).ok());
  EXPECT_THAT(taken(), ElementsAre("2 not started: no more processes"));
  EXPECT_EQ(worker_pool->running(), 2);
  ASSERT_TRUE(worker_pool->restart(2).ok());  // it has passed
  EXPECT_THAT(taken(), ElementsAre());
  EXPECT_EQ(worker_pool->running(), 3);
}

// vfork and exec take as long as they take.
TEST_F(Pooled, AStartThatTakesItsTimeHoldsUpNothing) {
  start();
  for (const std::size_t i : {1u, 2u}) runner.end(i, {Ending::Kind::killed, 9});
  taken();
  runner.held = true;
  ASSERT_TRUE(worker_pool->restart(1).ok());
  ASSERT_TRUE(worker_pool->restart(2).ok());
  EXPECT_EQ(worker_pool->running(), 3);
  runner.print(0, "meanwhile\n");
  EXPECT_THAT(taken(), ElementsAre("0 printed meanwhile"));
  runner.end(0, {Ending::Kind::killed, 9});
  EXPECT_THAT(taken(), ElementsAre("0 was killed by SIGKILL"));
  EXPECT_EQ(runner.started.size(), 4u) << "one after the other";
  runner.let_go();
  EXPECT_THAT(taken(), ElementsAre());
  ASSERT_EQ(runner.started.size(), 5u);
  EXPECT_EQ(runner.started[3].role.name, "sink.0");
  EXPECT_EQ(runner.started[4].role.name, "sink.1");
  EXPECT_EQ(worker_pool->running(), 2);
}

TEST_F(Pooled, WhoIsBeingStartedWhenAllAreEndedIsEndedTheMomentItIsThere) {
  make();
  runner.held = true;
  ASSERT_TRUE(worker_pool->start().ok());
  worker_pool->end_all();
  EXPECT_EQ(worker_pool->running(), 1) << "nobody else is started";
  EXPECT_FALSE(runner.started[0].killed);
  runner.let_go();
  EXPECT_THAT(taken(), ElementsAre("0 was killed by SIGKILL"));
  EXPECT_EQ(runner.started.size(), 1u);
  EXPECT_EQ(worker_pool->running(), 0);
}

TEST_F(Pooled, AWorkerPoolThatGoesWaitsForWhoIsBeingStarted) {
  make();
  ASSERT_TRUE(worker_pool->start().ok());
  worker_pool.reset();
  ASSERT_EQ(runner.started.size(), 1u);
  EXPECT_TRUE(runner.started[0].killed && runner.started[0].reaped);
}

TEST_F(Pooled, AWorkerGetsOnlyTheRingsItReadsOrWrites) {
  start();
  const WorkerRole& writer = runner.started[0].role;
  const WorkerRole& reader = runner.started[1].role;
  ASSERT_EQ(writer.rings.size(), 1u);
  EXPECT_TRUE(writer.rings[0].writable);
  ASSERT_EQ(reader.rings.size(), 1u);
  EXPECT_EQ(reader.rings[0].stage, 0);
  EXPECT_FALSE(reader.rings[0].writable);
  EXPECT_EQ(fcntl(reader.rings[0].fd, F_GETFL) & O_ACCMODE, O_RDONLY);
  EXPECT_THAT(runner.started[1].request.keep,
              ElementsAre(segments->control_fd(), segments->plan_fd(), reader.report_fd,
                          reader.rings[0].fd));
}

TEST_F(Pooled, AWorkerKnowsWhoItIs) {
  start();
  const WorkerRole& role = runner.started[2].role;
  EXPECT_EQ(role.name, "sink.1");
  EXPECT_EQ(role.stage, 1);
  EXPECT_EQ(role.replica, 1);
  EXPECT_EQ(role.number, 2);
  EXPECT_EQ(role.supervisor, getpid());
}

TEST_F(Pooled, SpinsOnlyWhereCoresAreFree) {
  EXPECT_EQ(spins_for(plan, 4), 0);  // three replicas and the supervisor
  EXPECT_GT(spins_for(plan, 5), 0);
}

TEST_F(Pooled, ReportsAndOutputArrive) {
  start();
  runner.report(1, {1, Logged{"hello"}});
  runner.print(2, "one\ntw");
  EXPECT_THAT(taken(), testing::UnorderedElementsAre("1 said hello", "2 printed one"));
  runner.print(2, "o\n");
  EXPECT_THAT(taken(), ElementsAre("2 printed two"));
  EXPECT_THAT(taken(), ElementsAre());
}

TEST_F(Pooled, WhatAProcessSentBeforeItEndedComesBeforeItsEnd) {
  start();
  runner.print(1, "last words");
  runner.report(1, {1, Done{}});
  runner.end(1, {Ending::Kind::exited, 0});
  EXPECT_THAT(taken(), ElementsAre("1 done", "1 printed last words", "1 exited with code 0"));
  EXPECT_EQ(worker_pool->running(), 2);
}

TEST_F(Pooled, OneThatLeavesAChildBehindEndsAllTheSame) {
  start();
  const int held = dup(runner.started[1].output);  // as a grandchild would
  runner.print(1, "bye\n");
  runner.end(1, {Ending::Kind::exited, 0});
  EXPECT_THAT(taken(), ElementsAre("1 printed bye", "1 exited with code 0"));
  close(held);
}

TEST_F(Pooled, TheDeadComeFirstAndAreCollectedAfterTheirRepair) {
  start();
  runner.report(0, {0, Logged{"busy"}});
  for (const std::size_t i : {1u, 2u}) runner.end(i, {Ending::Kind::killed, 9});
  std::vector<int> replicas;
  for (const WorkerEvent& event : worker_pool->take_events()) replicas.push_back(event.replica);
  EXPECT_THAT(replicas, ElementsAre(1, 2, 0));
  EXPECT_FALSE(runner.started[1].reaped || runner.started[2].reaped);
  worker_pool->collect();
  EXPECT_TRUE(runner.started[1].reaped && runner.started[2].reaped);
  EXPECT_THAT(taken(), ElementsAre());
}

TEST_F(Pooled, NonsenseInTheReportPipeIsDropped) {
  start();
  EXPECT_EQ(write(runner.started[0].reports, "nonsense", 8), 8);
  runner.report(0, {0, Logged{"me"}});
  EXPECT_THAT(taken(), ElementsAre("0 said me"));
}

TEST_F(Pooled, AReportIsOfTheReplicaWhosePipeItCameThrough) {
  start();
  const std::string forged = R"({"kind": "log", "replica": 2, "text": "I am the other one"})";
  EXPECT_EQ(write(runner.started[1].reports, forged.data(), forged.size()),
            static_cast<ssize_t>(forged.size()));
  runner.report(2, {1, Done{}});
  EXPECT_THAT(taken(), testing::UnorderedElementsAre("1 said I am the other one", "2 done"));
}

TEST_F(Pooled, EndingAllKillsThoseThatStillRun) {
  start();
  runner.end(0, {Ending::Kind::exited, 0});
  worker_pool->take_events();
  worker_pool->end_all();
  EXPECT_FALSE(runner.started[0].killed);
  EXPECT_TRUE(runner.started[1].killed);
  EXPECT_THAT(taken(), ElementsAre("1 was killed by SIGKILL", "2 was killed by SIGKILL"));
}

TEST_F(Pooled, AWorkerPoolThatGoesTakesItsWorkersWithIt) {
  start();
  worker_pool.reset();
  for (const auto& process : runner.started) EXPECT_TRUE(process.killed && process.reaped);
}

TEST_F(Pooled, AStartThatFailsSaysWhy) {
  runner.fail_at = 2;
  make();
  ASSERT_TRUE(worker_pool->start().ok());
  EXPECT_THAT(taken(), ElementsAre("2 not started: no more processes"));
  EXPECT_EQ(worker_pool->running(), 2);
}

TEST_F(Pooled, ReadableWhenSomethingHappens) {
  start();
  pollfd ready{worker_pool->event_fd(), POLLIN, 0};
  EXPECT_EQ(poll(&ready, 1, 0), 0);
  runner.report(0, {0, Done{}});
  EXPECT_EQ(poll(&ready, 1, 1000), 1);
}

StageType type_named(const std::string& name, const std::string& module) {
  StageType type;
  type.contract.type = name;
  type.contract.rest_passes = true;
  type.module = module;
  return type;
}

TEST(ProcessPoolRole, NamesTheLibrariesOfPluginsAndTheContract) {
  StageTypes types;
  types.add(type_named("here", "")).add(type_named("image", "image"));
  types.add(type_named("far", "/far.so")).add(type_named("farther", "/far.so"));
  const auto role_of = [&](const std::string& type) {
    WorkerRole role;
    add_stage_type(role, types, type);
    return role;
  };
  EXPECT_TRUE(role_of("here").libraries.empty());
  EXPECT_TRUE(role_of("image").libraries.empty());
  EXPECT_EQ(role_of("here").contract, types.find("here")->contract.hash());
  EXPECT_THAT(role_of("far").libraries, ElementsAre("/far.so"));
  EXPECT_THAT(role_of("[here, far, farther]").libraries, ElementsAre("/far.so"));
  EXPECT_EQ(role_of("nowhere").contract, 0u);
}

}  // namespace
}  // namespace brigade
