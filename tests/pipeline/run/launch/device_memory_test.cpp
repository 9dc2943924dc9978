// The processes that make devices' memory: tests/integration/device_memory_test.py has them do it.
#include "pipeline/run/launch/device_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <brigade/text.h>
#include "pipeline/run/launch/spawner.h"
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
  EXPECT_EQ(
      says(script(folder, "exit 3")),
      "the device memory of numbers -> sink: the process that allocates it exited with code 3");
  EXPECT_EQ(
      says(script(folder, "kill -9 $$")),
      "the device memory of numbers -> sink: the process that allocates it was killed by SIGKILL");
}

TEST(DeviceMemoryProcess, ThatHangsIsEndedWithTheRun) {
  const TemporaryFolder folder;
  int asked = 0;
  EXPECT_EQ(
      says(script(folder, "exec sleep 1000"), kDeviceMemoryTimeoutMs,
           [&asked] { return ++asked == 3; }),
      "the device memory of numbers -> sink: the run was stopped before the memory was allocated");
  EXPECT_EQ(asked, 3);
}

/// Of processes that SIGKILL does not end, or of one that is never started: those of a driver that
/// does not return.
class HeldByADriver final : public ProcessRunner {
 public:
  explicit HeldByADriver(const std::string& program) : real_(Spawner::create(program).value()) {}

  void start(SpawnRequest request) override {
    if (!starts) return;
    real_->start(std::move(request));
    pollfd started{real_->started_fd(), POLLIN, 0};
    EXPECT_EQ(poll(&started, 1, -1), 1);  // so that a short limit is none of the start
  }
  int started_fd() const override { return real_->started_fd(); }
  std::optional<Result<RunningProcess>> take_started() override { return real_->take_started(); }
  Ending end(const RunningProcess& process) override { return real_->end(process); }
  void reap(RunningProcess& process) override { real_->reap(process); }
  void kill(const RunningProcess& process) override {
    ++kills;
    if (killed_by_sigkill) real_->kill(process);
  }
  void leave(RunningProcess& process) override {
    left = process.pid;
    real_->leave(process);
  }
  void signal(const RunningProcess& process, int signal) override {
    real_->signal(process, signal);
  }

  bool starts = true;
  bool killed_by_sigkill = false;
  int kills = 0;
  pid_t left = 0;

 private:
  std::unique_ptr<Spawner> real_;
};

/// Of a maker that says nothing.
std::string says(ProcessRunner& runner, int timeout_ms, std::function<bool()> stopped,
                 int killed_timeout_ms) {
  Plan plan = small_plan(1);
  plan.stages[0].ring.device_bytes = 1000;
  const OwnedFd plan_fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  return message_of(ask_for_device_memory(plan, plan_fd.get(), runner, {}, std::move(stopped),
                                          timeout_ms, killed_timeout_ms));
}

bool still_runs(pid_t pid) { return kill(pid, 0) == 0; }

TEST(DeviceMemoryProcess, ThatDoesNotEndWhenItIsKilledIsNamedAndLeft) {
  const TemporaryFolder folder;
  auto runner = std::make_unique<HeldByADriver>(script(folder, "exec sleep 1000"));
  const std::string said = says(*runner, 100, {}, 100);
  const pid_t pid = runner->left;
  EXPECT_EQ(said, concat("the device memory of numbers -> sink: it was not allocated within 0 s; "
                         "check that `nvidia-smi` answers (process ",
                         pid, ", which allocates it, was killed but does not exit)"));
  EXPECT_EQ(runner->kills, 1);
  runner.reset();
  EXPECT_TRUE(still_runs(pid));  // nobody has waited for it
  kill(pid, SIGKILL);
  while (still_runs(pid)) usleep(1000);  // nor is it a zombie: it is collected
}

TEST(DeviceMemoryProcess, ThatHangsIsEndedInTimeAndNotLeftWhereItEnds) {
  const TemporaryFolder folder;
  HeldByADriver runner(script(folder, "exec sleep 1000"));
  runner.killed_by_sigkill = true;
  EXPECT_EQ(says(runner, 100, {}, kKilledTimeoutMs),
            "the device memory of numbers -> sink: it was not allocated within 0 s; check that "
            "`nvidia-smi` answers");
  EXPECT_EQ(runner.left, 0);
}

TEST(DeviceMemoryProcess, ThatDoesNotEndIsLeftAtAStop) {
  const TemporaryFolder folder;
  auto runner = std::make_unique<HeldByADriver>(script(folder, "exec sleep 1000"));
  const auto after_the_kill = [&] { return runner->kills == 1; };
  // For ever, but for the stop, which comes when it has been killed.
  EXPECT_EQ(
      says(*runner, 100, after_the_kill, 1 << 30),
      "the device memory of numbers -> sink: the run was stopped before the memory was allocated");
  const pid_t pid = runner->left;
  ASSERT_GT(pid, 0);
  kill(pid, SIGKILL);
  runner.reset();
}

TEST(DeviceMemoryProcess, ThatIsNotStartedIsWaitedForInTimeAndUntilAStop) {
  HeldByADriver runner("/nowhere");
  runner.starts = false;
  EXPECT_EQ(says(runner, 100, {}, 0),
            "the device memory of numbers -> sink: its process was not started within 0 s");
  EXPECT_EQ(
      says(
          runner, 1 << 30, [] { return true; }, 0),
      "the device memory of numbers -> sink: the run was stopped before the memory was allocated");
}

TEST(DeviceMemoryProcess, ThatCannotBeStartedIsSaid) {
  EXPECT_NE(says("/nowhere").find("No such file or directory"), std::string::npos);
}

}  // namespace
}  // namespace brigade
