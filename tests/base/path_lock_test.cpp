#include "base/path_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <thread>

#include "tests/support/other_user.h"

namespace brigade {
namespace {

using testing::HasSubstr;
using testing_support::as_other_user;
using testing_support::may_become_another_user;
using testing_support::SharedFolder;

bool is_free(const std::string& path) {
  const auto lock = PathLock::try_now(path);
  return lock && lock->has_value();
}

TEST(PathLock, IsHeldByOneAtATimeAndLeavesNothing) {
  const SharedFolder folder;
  {
    const auto lock = PathLock::wait(folder / "a");
    ASSERT_TRUE(lock);
    EXPECT_FALSE(is_free(folder / "a"));
    EXPECT_TRUE(is_free(folder / "b"));
  }
  EXPECT_TRUE(is_free(folder / "a"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(PathLock, ManyTakeTurns) {
  const SharedFolder folder;
  std::atomic<int> inside{0};
  std::atomic<bool> alone{true};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const auto lock = PathLock::wait(folder / "a");
        alone = alone && lock.ok() && ++inside == 1;
        --inside;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(alone);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(PathLock, WhatAKilledHolderHasLeftIsTakenOver) {
  const SharedFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    const auto lock = PathLock::wait(folder / "a");
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "a.lock"));
  EXPECT_TRUE(is_free(folder / "a"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(PathLock, IsNotForOthersToHold) {
  if (!may_become_another_user()) GTEST_SKIP() << "not root";
  const SharedFolder folder;
  const auto lock = PathLock::wait(folder / "a");
  as_other_user([&] {
    return PathLock::try_now(folder / "a").error().message ==
           "cannot write " + (folder / "a.lock") + ": Permission denied";
  });
  as_other_user([&] { return PathLock::try_now(folder / "b").ok(); });  // the control
}

TEST(PathLock, APlantedOneIsAnErrorNotAWait) {
  const SharedFolder folder;
  std::filesystem::create_symlink(folder / "target", folder / "a.lock");
  EXPECT_THAT(PathLock::wait(folder / "a").error().message, HasSubstr("found a symbolic link"));
  EXPECT_FALSE(std::filesystem::exists(folder / "target"));
  ASSERT_EQ(mkfifo((folder / "b.lock").c_str(), 0666), 0);
  EXPECT_THAT(PathLock::wait(folder / "b").error().message, HasSubstr("expected a regular file"));
}

}  // namespace
}  // namespace brigade
