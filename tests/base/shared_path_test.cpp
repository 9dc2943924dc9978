#include "base/shared_path.h"
#include "base/path_lock.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/io.h"
#include "tests/support/other_user.h"

namespace brigade {
namespace {

using testing::HasSubstr;

using testing_support::as_other_user;
using testing_support::may_become_another_user;
using testing_support::SharedFolder;

/// Appends "more"; why not, or "".
std::string append(const std::string& path, Existing existing = Existing::file) {
  const auto file = open_to_append(path, existing);
  if (!file) return file.error().message;
  return write_all(file->get(), "more") ? "" : "not written";
}

bool plant(const std::string& path) {
  std::ofstream(path) << "planted ";
  return chmod(path.c_str(), 0666) == 0;
}

TEST(SharedPath, IsMadeAndAppendedTo) {
  const SharedFolder folder;
  EXPECT_EQ(append(folder / "a"), "");
  EXPECT_EQ(append(folder / "a"), "");
  EXPECT_EQ(*read_whole_file(folder / "a"), "moremore");
}

TEST(SharedPath, ModesFollowTheUmask) {
  const SharedFolder folder;
  for (const auto& [mask, mode] : {std::pair{0u, 0644u}, std::pair{077u, 0600u}}) {
    const mode_t before = umask(mask);
    EXPECT_EQ(append(folder / std::to_string(mode)), "");
    umask(before);
    struct stat made;
    ASSERT_EQ(stat((folder / std::to_string(mode)).c_str(), &made), 0);
    EXPECT_EQ(made.st_mode & 07777u, mode);
  }
}

TEST(SharedPath, ALinkIsFollowedOnlyWherePeopleNamedIt) {
  const SharedFolder folder;
  const std::string target = folder.write("target", "");
  std::filesystem::create_symlink(target, folder / "link");
  EXPECT_EQ(append(folder / "link"), "cannot write " + (folder / "link") +
                                         ": expected a regular file, found a symbolic link; "
                                         "remove it");
  EXPECT_EQ(*read_whole_file(target), "");
  EXPECT_EQ(append(folder / "link", Existing::anything), "");
  EXPECT_EQ(*read_whole_file(target), "more");
}

TEST(SharedPath, APipeIsNeverWaitedFor) {
  const SharedFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0666), 0);
  EXPECT_EQ(append(folder / "pipe"), "cannot write " + (folder / "pipe") + ": no process reads it");
  EXPECT_THAT(read_whole_file(folder / "pipe").error().message, HasSubstr("a regular file"));
  const OwnedFd reader(open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  EXPECT_THAT(append(folder / "pipe"), HasSubstr("expected a regular file"));
  EXPECT_EQ(append(folder / "pipe", Existing::anything), "");
  char got[5] = {};
  EXPECT_EQ(read(reader.get(), got, 4), 4);
  EXPECT_EQ(std::string(got), "more");
}

TEST(SharedPath, DevicesArePeoplesChoice) {
  EXPECT_EQ(append("/dev/null", Existing::anything), "");
  EXPECT_THAT(append("/dev/null"), HasSubstr("expected a regular file"));
}

TEST(SharedPath, WhatSomebodyElseHasPlantedIsNotWritten) {
  if (!may_become_another_user()) GTEST_SKIP() << "not root";
  const SharedFolder folder;
  const std::string ours = folder.write("ours", "");
  as_other_user([&] {
    std::filesystem::create_symlink(ours, folder / "link");
    return plant(folder / "file") && mkfifo((folder / "pipe").c_str(), 0666) == 0;
  });
  const OwnedFd reader(open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  for (const char* name : {"link", "file", "pipe"})
    EXPECT_THAT(append(folder / name, Existing::anything),
                HasSubstr("it belongs to another user (65534), in a folder that all users may "
                          "write"));
  EXPECT_EQ(std::filesystem::file_size(folder / "file"), 8u);
  EXPECT_EQ(*read_whole_file(ours), "");
  EXPECT_THAT(read_whole_file(folder / "file").error().message,
              HasSubstr("it belongs to another user (65534)"));
  chmod(folder.path().c_str(), 0777);  // not sticky: permissions decide
  EXPECT_EQ(*read_whole_file(folder / "file"), "planted ");
  EXPECT_EQ(append(folder / "file"), "");
  EXPECT_EQ(append(folder / "link", Existing::anything), "");
}

TEST(SharedPath, WhatTheFoldersOwnerHasMadeIsTrusted) {
  if (!may_become_another_user()) GTEST_SKIP() << "not root";
  const SharedFolder folder;
  plant(folder / "file");
  as_other_user([&] { return append(folder / "file").empty(); });
  EXPECT_EQ(*read_whole_file(folder / "file"), "planted more");
}

TEST(SharedPath, AFileOfSeveralNamesIsNotWrittenWhereOthersMayHaveGivenThem) {
  const SharedFolder folder;
  const std::string precious = folder.write("precious", "1");
  std::filesystem::create_hard_link(precious, folder / "planted");
  EXPECT_THAT(append(folder / "planted"), HasSubstr("it has several hard links"));
  EXPECT_EQ(*read_whole_file(precious), "1");
  chmod(folder.path().c_str(), 0755);
  EXPECT_EQ(append(folder / "planted"), "");
}

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
