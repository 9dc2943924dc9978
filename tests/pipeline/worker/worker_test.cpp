#include "pipeline/worker/worker.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <thread>

#include "pipeline/memory/shared_segments.h"
#include "pipeline/run/launch/process_runner.h"
#include "tests/support/small_plan.h"

namespace brigade {
namespace {

using testing::HasSubstr;

TEST(Worker, WhoseSupervisorHasGoneEndsAtOnce) {
  WorkerRole role;
  role.supervisor = 1;  // not the parent of the process that EXPECT_EXIT makes
  EXPECT_EXIT(run_worker(role, {}), testing::ExitedWithCode(0), "");
}

// What a worker whose role has been changed says.
std::string refusal(const std::function<void(WorkerRole&)>& change, const StageTypes& types = {}) {
  const Plan plan = small_plan(2);
  const auto segments = SharedSegments::create(plan, {}).value();
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  WorkerRole role;
  role.stage = 1;
  role.replica = 1;
  role.number = 2;
  role.report_fd = ends[1];
  role.control_fd = segments->control_fd();
  role.plan_fd = segments->plan_fd();
  change(role);
  EXPECT_EXIT(
      {
        role.supervisor = getppid();
        run_worker(role, types);
      },
      testing::ExitedWithCode(1), "");
  close(ends[1]);  // a worker that reports nothing is an end of the pipe
  char packet[kReportBytesMax];
  const ssize_t bytes = read(ends[0], packet, sizeof packet);
  close(ends[0]);
  const auto report = parse_report({packet, static_cast<std::size_t>(bytes)});
  return std::get<Failed>(report.value()).message;
}

TEST(Worker, ThatCannotAttachSaysWhy) {
  EXPECT_THAT(refusal([](WorkerRole& role) { role.control_fd = dup(role.report_fd); }),
              HasSubstr("cannot map"));
}

TEST(Worker, WhoseRoleIsNotOfThePlanIsRefused) {
  EXPECT_THAT(refusal([](WorkerRole&) {}), HasSubstr("no stage type"));  // it comes after the role
  EXPECT_EQ(refusal([](WorkerRole& role) { role.stage = 2; }), "its role names stage 2 of 2");
  EXPECT_EQ(refusal([](WorkerRole& role) { role.stage = -1; }), "its role names stage -1 of 2");
  EXPECT_EQ(refusal([](WorkerRole& role) { role.replica = 2; }), "its role names replica 2 of 2");
  EXPECT_EQ(refusal([](WorkerRole& role) { role.replica = -1; }), "its role names replica -1 of 2");
  EXPECT_EQ(refusal([](WorkerRole& role) { role.number = 1; }),
            "its role names number 1, expected 2");
}

int report_fd = -1;

struct LooksAtDescriptors : Stage {
  Result<void> open(const OpenContext&) override {
    const bool closed = (fcntl(report_fd, F_GETFD) & FD_CLOEXEC) != 0;
    return Error{closed ? "closed on exec" : "inherited"};
  }
  Result<Next> process(const Inputs&, Outputs&) override { return Next::emit; }
};

// A program that a stage starts cannot report in its name.
TEST(Worker, WhatItExecutesDoesNotGetItsReportPipe) {
  struct NoParams {};
  StageTypes types;
  types.add<LooksAtDescriptors>(Contract<NoParams>("sink_type", "Looks.").consumer());
  EXPECT_THAT(refusal([](WorkerRole& role) { report_fd = role.report_fd; }, types),
              HasSubstr("closed on exec"));
}

TEST(WorkerFault, OfAnotherReplicaIsLeftAlone) {
  EXPECT_TRUE(arm_worker_fault("augment.1=nonsense", "augment", 0).ok());
  EXPECT_TRUE(arm_worker_fault("", "augment", 0).ok());
}

TEST(WorkerFault, ThatIsMalformedIsAnError) {
  for (const char* text : {"augment.0=nonsense", "augment.0=claim.start:0:kill",
                           "other.0=claim.start:1:kill, augment.0=claim.start:1:dance"}) {
    const auto armed = arm_worker_fault(text, "augment", 0);
    ASSERT_FALSE(armed.ok()) << text;
    EXPECT_THAT(armed.error().message, HasSubstr("expected STAGE.REPLICA=POINT:N:kill"));
  }
}

enum class From { main_thread, other_thread };

[[noreturn]] void sleep_for_ever() {
  for (;;) pause();
}

void fork_and_tell(int fd) {
  const pid_t child = fork();
  if (child == 0) sleep_for_ever();
  if (write(fd, &child, sizeof child) != sizeof child) _exit(1);
}

/// The child of a process like a worker, which has been killed since.
pid_t child_of_the_dead(bool tied, From from) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t worker = fork();
  if (worker == 0) {
    if (tied) end_forked_children_with_this_process();
    if (from == From::main_thread) fork_and_tell(ends[1]);
    if (from == From::other_thread) std::thread([&] { fork_and_tell(ends[1]); }).join();
    sleep_for_ever();
  }
  pid_t child = 0;
  EXPECT_EQ(read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  kill(worker, SIGKILL);
  waitpid(worker, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
  return child;
}

bool ends(pid_t pid) {
  for (int tries = 0; tries < 5000; ++tries) {
    if (condition_of(pid) == ProcessCondition::gone) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

TEST(ForkedChildren, GoWithTheirProcess) {
  EXPECT_TRUE(ends(child_of_the_dead(true, From::main_thread)));
}

TEST(ForkedChildren, ControlTheyAreLeftBehindWhereNobodyTiesThem) {
  const pid_t child = child_of_the_dead(false, From::main_thread);
  EXPECT_EQ(condition_of(child), ProcessCondition::runs);
  kill(child, SIGKILL);
}

// Its thread has ended before the child is looked at.
TEST(ForkedChildren, OfAnotherThreadOutliveThatThread) {
  const pid_t child = child_of_the_dead(true, From::other_thread);
  EXPECT_EQ(condition_of(child), ProcessCondition::runs);
  kill(child, SIGKILL);
}

}  // namespace
}  // namespace brigade
