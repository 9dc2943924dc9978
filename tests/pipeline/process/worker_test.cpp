#include "pipeline/process/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace brigade {
namespace {

using testing::HasSubstr;

TEST(Worker, WhoseSupervisorHasGoneEndsAtOnce) {
  WorkerRole role;
  role.supervisor = 1;  // not the parent of the process that EXPECT_EXIT makes
  EXPECT_EXIT(run_worker(role, {}), testing::ExitedWithCode(0), "");
}

TEST(Worker, ThatCannotAttachSaysWhy) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  WorkerRole role;
  role.number = 7;
  role.report_fd = ends[1];
  role.control_fd = ends[0];  // no memory
  EXPECT_EXIT(
      {
        role.supervisor = getppid();
        run_worker(role, {});
      },
      testing::ExitedWithCode(1), "");
  char packet[kReportBytesMax];
  const ssize_t bytes = read(ends[0], packet, sizeof packet);
  ASSERT_GT(bytes, 0);
  const auto report = parse_report({packet, static_cast<std::size_t>(bytes)});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->replica, 7);
  EXPECT_THAT(std::get<Failed>(report->what).message, HasSubstr("cannot map"));
  close(ends[0]);
  close(ends[1]);
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
