// The processes that make devices' memory: tests/integration/device_memory_test.py has them do it.
#include "pipeline/launch/device_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <utility>

#include "pipeline/launch/spawner.h"
#include "tests/support/message_of.h"
#include "tests/support/small_plan.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

/// What is said where the process is this program.
std::string says(const std::string& program, int timeout_ms = kDeviceMemoryTimeoutMs,
                 std::function<bool()> stopped = {}) {
  Plan plan = small_plan(1);
  plan.stages[0].ring.device_bytes = 1000;
  const auto spawner = Spawner::create(program).value();
  const OwnedFd plan_fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  return message_of(
      ask_for_device_memory(plan, plan_fd.get(), *spawner, {}, std::move(stopped), timeout_ms));
}

std::string script(const TemporaryFolder& folder, const std::string& text) {
  const std::string path = folder.write("maker", "#!/bin/sh\n" + text + "\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST(DeviceMemoryProcess, IsNotAskedForWhereNoTensorLiesOnADevice) {
  const Plan plan = small_plan(1);
  const auto spawner = Spawner::create("/nowhere").value();
  const auto made = ask_for_device_memory(plan, -1, *spawner, {}, {});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ((*made)[0].get(), -1);
}

TEST(DeviceMemoryProcess, ThatEndsWithoutAWordIsNamed) {
  const TemporaryFolder folder;
  EXPECT_EQ(says(script(folder, "exit 3")),
            "the device's memory of numbers -> sink: the process that makes it exited with code 3");
  EXPECT_EQ(says(script(folder, "kill -9 $$")),
            "the device's memory of numbers -> sink: the process that makes it was killed by "
            "SIGKILL");
}

TEST(DeviceMemoryProcess, ThatHangsIsEndedInTime) {
  const TemporaryFolder folder;
  EXPECT_EQ(says(script(folder, "exec sleep 1000"), 1000),
            "the device's memory of numbers -> sink: it was not made within 1 s; does `nvidia-smi` "
            "answer?");
}

TEST(DeviceMemoryProcess, ThatHangsIsEndedWithTheRun) {
  const TemporaryFolder folder;
  int asked = 0;
  EXPECT_EQ(says(script(folder, "exec sleep 1000"), kDeviceMemoryTimeoutMs,
                 [&asked] { return ++asked == 3; }),
            "the device's memory of numbers -> sink: the run was stopped before it was made");
  EXPECT_EQ(asked, 3);
}

TEST(DeviceMemoryProcess, ThatCannotBeStartedIsSaid) {
  EXPECT_NE(says("/nowhere").find("No such file or directory"), std::string::npos);
}

}  // namespace
}  // namespace brigade
