#include "stages/basic/crash_marker.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temporary_folder.h"

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

TEST(CrashMarkerTest, EachStageOfARunHasItsOwnFile) {
  const std::string path = CrashMarker::path_of_run("slow");
  EXPECT_EQ(path, CrashMarker::path_of_run("slow"));
  EXPECT_NE(path, CrashMarker::path_of_run("slower"));
}

}  // namespace
}  // namespace brigade
