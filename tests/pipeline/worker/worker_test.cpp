#include "pipeline/worker/worker.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>

#include "pipeline/memory/shared_segments.h"
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

}  // namespace
}  // namespace brigade
