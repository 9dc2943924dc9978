#include "pipeline/cli/commands/summary_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/shared_path.h"
#include "tests/support/other_user.h"

namespace brigade {
namespace {

using testing::HasSubstr;
using testing_support::SharedFolder;

std::string write_summary(const std::string& path) {
  auto file = SummaryFile::open(path);
  if (!file) return file.error().message;
  const auto written = file->write("{}\n");
  return written ? "" : written.error().message;
}

TEST(SummaryFile, IsThereWholeOrNotAtAll) {
  const SharedFolder folder;
  { auto file = SummaryFile::open(folder / "out.json"); }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  folder.write("out.json", "of an earlier run, and longer");
  EXPECT_EQ(write_summary(folder / "out.json"), "");
  EXPECT_EQ(*read_whole_file(folder / "out.json"), "{}\n");
}

TEST(SummaryFile, MayBeADeviceAPipeOrALinkOfTheUsers) {
  const SharedFolder folder;
  EXPECT_EQ(write_summary("/dev/null"), "");
  EXPECT_EQ(write_summary("/dev/full"),
            "the summary: cannot write /dev/full: No space left on device");
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(write_summary(folder / "pipe"), HasSubstr("no process reads it"));
  const OwnedFd reader(open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  EXPECT_EQ(write_summary(folder / "pipe"), "");
  char got[4] = {};
  EXPECT_EQ(read(reader.get(), got, 3), 3);
  const std::string target = folder.write("target", "of an earlier run");
  std::filesystem::create_symlink(target, folder / "link");
  EXPECT_EQ(write_summary(folder / "link"), "");
  EXPECT_EQ(*read_whole_file(target), "{}\n");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
}

TEST(SummaryFile, ALinkOfSomebodyElseIsRefusedWhereEverybodyMayMakeOne) {
  if (!testing_support::may_become_another_user()) GTEST_SKIP() << "not root";
  const SharedFolder folder;
  const std::string target = folder.write("target", "precious");
  testing_support::as_other_user([&] {
    std::filesystem::create_symlink(target, folder / "link");
    return true;
  });
  EXPECT_THAT(write_summary(folder / "link"), HasSubstr("it belongs to another user"));
  EXPECT_EQ(*read_whole_file(target), "precious");
}

TEST(SummaryFile, ADashIsStandardOutput) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(write_summary("-"), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "{}\n");
}

}  // namespace
}  // namespace brigade
