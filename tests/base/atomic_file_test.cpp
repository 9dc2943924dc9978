#include "base/atomic_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/idx_files.h"

namespace brigade {
namespace {

using testing_support::TempFolder;

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t files_in(const TempFolder& folder) {
  const std::filesystem::directory_iterator files(folder.path());
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

TEST(AtomicFileTest, CreatesAndReplaces) {
  const TempFolder folder;
  const std::string path = folder / "model.pt";
  ASSERT_TRUE(write_file_atomically(path, "first"));
  EXPECT_EQ(contents(path), "first");
  const std::string large(5 << 20, 'x');
  ASSERT_TRUE(write_file_atomically(path, large));
  EXPECT_EQ(contents(path), large);
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(AtomicFileTest, ARelativePathIsWrittenInTheWorkingDirectory) {
  const TempFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  EXPECT_TRUE(check_writable("model.pt"));
  EXPECT_TRUE(write_file_atomically("model.pt", "bytes"));
  std::filesystem::current_path(before);
  EXPECT_EQ(contents(folder / "model.pt"), "bytes");
}

TEST(AtomicFileTest, AReaderOfTheOldFileKeepsIt) {
  const TempFolder folder;
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
  const TempFolder folder;
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
  EXPECT_EXIT(write_too_much(), testing::ExitedWithCode(0),
              "cannot write .*/model.pt \\(4.0 KiB\\): File too large; what was there before is "
              "intact");
  EXPECT_EQ(contents(path), "old");
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(AtomicFileTest, AFolderThatIsNotThereIsNamed) {
  const TempFolder folder;
  const std::string path = folder / "none/model.pt";
  EXPECT_EQ(
      check_writable(path).error().message,
      "cannot write " + path + ": folder " + (folder / "none") + ": No such file or directory");
  EXPECT_FALSE(write_file_atomically(path, "bytes"));
  EXPECT_TRUE(check_writable(folder / "model.pt"));
}

}  // namespace
}  // namespace brigade
