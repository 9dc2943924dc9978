// Replicas as processes of a runner that starts none: what happens to them is in
// tests/golden/run/process_pool.txt, where a process is the number of its start, and numbers.0,
// sink.0 and sink.1 are the replicas 0, 1 and 2. What a worker is told is asked here.

#include "pipeline/run/launch/process_pool.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "tests/support/fake_runner.h"
#include "tests/support/small_plan.h"
#include "tests/support/word_for_word.h"

namespace brigade {
namespace {

using testing::ElementsAre;

struct Pool {
  Plan plan = small_plan(2);
  std::unique_ptr<SharedSegments> segments = SharedSegments::create(plan, {}).value();
  StageTypes types;
  FakeRunner runner;
  std::unique_ptr<ProcessPool> worker_pool;
  std::vector<OwnedFd> copies;

  void start(std::vector<std::string> environment) {
    worker_pool =
        ProcessPool::create(plan, *segments, types, runner, std::move(environment)).value();
    ASSERT_TRUE(worker_pool->start().ok());
  }
  bool readable() const {
    pollfd ready{worker_pool->event_fd(), POLLIN, 0};
    return poll(&ready, 1, 0) == 1;
  }
  /// Each answer to a start has the next one started.
  std::string all_events() {
    std::string text;
    while (readable()) {
      text += events();
      worker_pool->collect();
    }
    return text.empty() ? "none\n" : text;
  }
  std::string events() {
    std::string text;
    for (const WorkerEvent& event : worker_pool->take_events()) {
      text += concat(event.replica);
      if (const auto* printed = std::get_if<Printed>(&event.what))
        text += " printed " + printed->line;
      if (const auto* said = std::get_if<Logged>(&event.what)) text += " said " + said->line;
      if (const auto* ended = std::get_if<Ended>(&event.what))
        text += " " + ending_text(ended->ending);
      if (std::holds_alternative<Done>(event.what)) text += " done";
      if (const auto* failed = std::get_if<NotStarted>(&event.what))
        text += " not started: " + failed->message;
      text += "\n";
    }
    return text;
  }
  std::string processes() const {
    std::string text =
        worker_pool ? concat(worker_pool->running(), " run\n") : std::string("the pool is gone\n");
    for (const FakeRunner::Started& one : runner.started) {
      text += concat(one.request.title, one.killed ? ", killed" : "", one.reaped ? ", reaped" : "");
      for (const std::string& entry : one.request.environment)
        if (!entry.starts_with(kRoleVariable) && entry.find("THREADS") == entry.npos)
          text += ", " + entry;
      text += "\n";
    }
    return text;
  }

  std::string answer(std::string_view line) {
    const auto [verb, rest] = parted(line, " ");
    const auto [number, what] = parted(rest, " ");
    const std::size_t i = rest.empty() ? 0 : std::strtoul(number.c_str(), nullptr, 10);
    if (verb == "events") return all_events();
    if (verb == "look") return events();
    if (verb == "processes") return processes();
    if (verb == "readable") return readable() ? "yes\n" : "no\n";
    if (verb == "start")
      start(pieces(rest, " "));
    else if (verb == "restart")
      return worker_pool->restart(static_cast<int>(i)).ok() ? "" : "does not restart\n";
    else if (verb == "collect")
      worker_pool->collect();
    else if (verb == "end_all")
      worker_pool->end_all();
    else if (verb == "goes")
      worker_pool.reset();
    else if (verb == "holds_starts")
      runner.held = true;
    else if (verb == "lets_go")
      runner.let_go();
    else if (verb == "fails_start")
      runner.fail_at = i;
    else
      return happens(verb, i, what) ? "" : unknown_command(line);
    return "";
  }

  /// To the process that was started as the i-th.
  bool happens(const std::string& verb, std::size_t i, const std::string& what) {
    if (verb == "prints")
      runner.print(i, unescaped(what));
    else if (verb == "says")
      runner.report(i, {static_cast<int>(i), Logged{what}});
    else if (verb == "done")
      runner.report(i, {static_cast<int>(i), Done{}});
    else if (verb == "killed")
      runner.end(i, {Ending::Kind::killed, 9});
    else if (verb == "exited")
      runner.end(i, {Ending::Kind::exited, 0});
    else if (verb == "leaves_a_child")
      copies.emplace_back(dup(runner.started[i].output));
    else if (verb == "is_copied")
      copies.emplace_back(dup(runner.started[i].pidfd));
    else if (verb == "writes")
      return write(runner.started[i].reports, what.data(), what.size()) ==
             static_cast<ssize_t>(what.size());
    else
      return false;
    return true;
  }
};

TEST(ProcessPool, TellsWordForWord) { expect_session<Pool>("run/process_pool.txt"); }

struct Pooled : testing::Test, Pool {
  void SetUp() override {
    start({"HOME=/home/anna"});
    all_events();
  }
};

TEST_F(Pooled, ASuccessorHasTheRoleOfThoseBefore) {
  runner.end(1, {Ending::Kind::killed, 9});
  all_events();
  ASSERT_TRUE(worker_pool->restart(1).ok());
  WorkerRole before = runner.started[1].role;
  before.report_fd = runner.started[3].role.report_fd;
  EXPECT_EQ(runner.started[3].role, before);
  EXPECT_EQ(worker_pool->pid(2), 5003);
}

TEST_F(Pooled, AWorkerGetsOnlyTheRingsItReadsOrWrites) {
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
