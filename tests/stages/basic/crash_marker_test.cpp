#include "stages/basic/crash_marker.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/other_user.h"

namespace brigade {
namespace {

TEST(CrashMarkerTest, RemembersAcrossObjectsUntilRemoved) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "marker";
  CrashMarker first(path);
  first.remove();
  EXPECT_FALSE(first.has(17));
  ASSERT_TRUE(first.add(17));
  ASSERT_TRUE(first.add(4711));

  CrashMarker second(path);
  EXPECT_TRUE(second.has(17));
  EXPECT_TRUE(second.has(4711));
  EXPECT_FALSE(second.has(1));
  second.remove();
  EXPECT_FALSE(first.has(17));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(CrashMarkerTest, AnUnwritableFileIsAnError) {
  CrashMarker marker("/nowhere/at/all");
  EXPECT_EQ(marker.add(1).error().message,
            "the crash marker: cannot write /nowhere/at/all: No such file or directory");
}

TEST(CrashMarkerTest, APlantedOneIsNeitherWrittenNorWaitedFor) {
  const testing_support::SharedFolder folder;
  const std::string precious = folder.write("precious", "17\n");
  std::filesystem::create_symlink(precious, folder / "marker");
  EXPECT_FALSE(CrashMarker(folder / "marker").add(1));
  EXPECT_EQ(std::filesystem::file_size(precious), 3u);
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0666), 0);
  EXPECT_FALSE(CrashMarker(folder / "pipe").has(17));
  EXPECT_FALSE(CrashMarker(folder / "pipe").add(17));
}

TEST(CrashMarkerTest, ItsNameIsMadeFromWhatNoOtherUserCanRead) {
  const auto secret = [](const std::string& process) {
    return std::ifstream("/proc/" + process + "/auxv").is_open();
  };
  EXPECT_TRUE(secret("self"));
  if (!testing_support::may_become_another_user()) GTEST_SKIP() << "not root";
  testing_support::as_other_user([&] { return !secret(std::to_string(getppid())); });
}

TEST(CrashMarkerTest, EachStageOfARunHasItsOwnFile) {
  const std::string path = CrashMarker::path_of_run("slow");
  EXPECT_EQ(path, CrashMarker::path_of_run("slow"));
  EXPECT_NE(path, CrashMarker::path_of_run("slower"));
}

}  // namespace
}  // namespace brigade
