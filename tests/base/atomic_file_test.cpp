#include "base/atomic_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/file_text.h"
#include "tests/support/other_user.h"

namespace brigade {
namespace {

std::size_t files_in(const TemporaryFolder& folder) {
  const std::filesystem::directory_iterator files(folder.path());
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

TEST(AtomicFileTest, CreatesAndReplaces) {
  const TemporaryFolder folder;
  const std::string path = folder / "model.pt";
  ASSERT_TRUE(write_file_atomically(path, "first"));
  EXPECT_EQ(file_text(path), "first");
  const std::string large(5 << 20, 'x');
  ASSERT_TRUE(write_file_atomically(path, large));
  EXPECT_EQ(file_text(path), large);
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(AtomicFileTest, ARelativePathIsWrittenInTheWorkingDirectory) {
  const TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  EXPECT_TRUE(check_writable("model.pt"));
  EXPECT_TRUE(write_file_atomically("model.pt", "bytes"));
  std::filesystem::current_path(before);
  EXPECT_EQ(file_text(folder / "model.pt"), "bytes");
}

TEST(AtomicFileTest, AReaderOfTheOldFileKeepsIt) {
  const TemporaryFolder folder;
  const std::string path = folder / "model.pt";
  ASSERT_TRUE(write_file_atomically(path, "old"));
  std::ifstream reader(path);
  ASSERT_TRUE(write_file_atomically(path, "new"));
  std::string seen;
  reader >> seen;
  EXPECT_EQ(seen, "old");
}

// A full disk, played by the limit on file sizes: in a child, as it cannot be raised again.
TEST(AtomicFileDeathTest, AFullDiskIsAnErrorAndLeavesTheOldFile) {
  const TemporaryFolder folder;
  const std::string path = folder / "model.pt";
  ASSERT_TRUE(write_file_atomically(path, "old"));
  const auto write_too_much = [&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto written = write_file_atomically(path, std::string(4096, 'x'));
    std::fprintf(stderr, "%s\n", written ? "written" : written.error().message.c_str());
    _exit(0);
  };
  EXPECT_EXIT(
      write_too_much(), testing::ExitedWithCode(0),
      "cannot write .*/model.pt \\(4.0 KiB\\): File too large; the previous file is intact");
  EXPECT_EQ(file_text(path), "old");
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(AtomicFileTest, IsNobodysUntilItIsPublished) {
  const TemporaryFolder folder;
  {
    auto file = NewFile::create(folder / "model.pt").value();
    ASSERT_TRUE(file.write("bytes"));
    EXPECT_EQ(files_in(folder), 0u);
  }
  EXPECT_EQ(files_in(folder), 0u);
  auto file = NewFile::create(folder / "model.pt").value();
  ASSERT_TRUE(file.write("bytes"));
  ASSERT_TRUE(file.publish());
  EXPECT_EQ(file_text(folder / "model.pt"), "bytes");
}

TEST(AtomicFileTest, WithoutNamelessFilesItHasARandomNameMeanwhile) {
  const TemporaryFolder folder;
  for (const char* bytes : {"first", "second"}) {
    auto file = NewFile::create_with_random_name(folder / "model.pt").value();
    EXPECT_EQ(files_in(folder), bytes == std::string("first") ? 1u : 2u);
    ASSERT_TRUE(file.write(bytes));
    ASSERT_TRUE(file.publish());
    EXPECT_EQ(file_text(folder / "model.pt"), bytes);
    EXPECT_EQ(files_in(folder), 1u);
  }
  NewFile::create_with_random_name(folder / "model.pt").value();
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(AtomicFileTest, ModesFollowTheUmask) {
  const TemporaryFolder folder;
  for (const auto& [mask, mode] : {std::pair{0u, 0644u}, std::pair{077u, 0600u}}) {
    const mode_t before = umask(mask);
    ASSERT_TRUE(write_file_atomically(folder / "model.pt", "bytes"));
    umask(before);
    struct stat made;
    ASSERT_EQ(stat((folder / "model.pt").c_str(), &made), 0);
    EXPECT_EQ(made.st_mode & 07777u, mode);
  }
}

// Whatever lies at the name or at what was once the name of the temporary file: a link to
// something precious, a second name of it, a pipe, a file that everybody may write.
TEST(AtomicFileTest, WhatIsPlantedIsReplacedNeverWrittenInto) {
  const testing_support::SharedFolder folder;
  const std::string precious = folder.write("precious", "precious");
  const auto plant = [&](const std::string& path, int how) {
    if (how == 0) std::filesystem::create_symlink(precious, path);
    if (how == 1) std::filesystem::create_hard_link(precious, path);
    if (how == 2) return mkfifo(path.c_str(), 0666) == 0;
    if (how == 3) std::ofstream(path) << "planted";
    return how != 3 || chmod(path.c_str(), 0666) == 0;
  };
  for (const char* ending : {"", ".tmp"})
    for (int how = 0; how < 4; ++how) {
      const std::string path = folder / std::to_string(how) + "model.pt";
      if (testing_support::may_become_another_user() && how != 1)
        testing_support::as_other_user([&] { return plant(path + ending, how); });
      else
        ASSERT_TRUE(plant(path + ending, how));
      ASSERT_TRUE(write_file_atomically(path, "bytes"));
      struct stat made;
      ASSERT_EQ(lstat(path.c_str(), &made), 0);
      EXPECT_TRUE(S_ISREG(made.st_mode));
      EXPECT_EQ(made.st_uid, geteuid());
      EXPECT_EQ(made.st_mode & 022u, 0u);
      EXPECT_EQ(file_text(path), "bytes");
      EXPECT_EQ(file_text(precious), "precious");
      std::filesystem::remove(path + ".tmp");
      std::filesystem::remove(path);
    }
}

TEST(AtomicFileTest, AFolderThatIsNotThereIsNamed) {
  const TemporaryFolder folder;
  const std::string path = folder / "none/model.pt";
  EXPECT_EQ(
      check_writable(path).error().message,
      "cannot write " + path + ": folder " + (folder / "none") + ": No such file or directory");
  EXPECT_FALSE(write_file_atomically(path, "bytes"));
  EXPECT_TRUE(check_writable(folder / "model.pt"));
}

}  // namespace
}  // namespace brigade
