#include "stages/api/path_stamp.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

TEST(PathStamp, IsItsSizeAndWhenItChanged) {
  const TemporaryFolder folder;
  const std::string path = folder.write("x", "hello");
  const auto before = stamp_of(path);
  ASSERT_TRUE(before);
  EXPECT_EQ(before->bytes, 5u);
  const auto time = std::filesystem::last_write_time(path) - std::chrono::hours(1);
  std::filesystem::last_write_time(path, time);
  const std::int64_t hour_ns = std::int64_t{3600} * 1'000'000'000;
  EXPECT_EQ(stamp_of(path)->changed_ns, before->changed_ns - hour_ns);
  std::filesystem::create_symlink(path, folder.path() / "link");
  EXPECT_EQ(stamp_of(folder.path() / "link")->bytes, 5u);
}

TEST(PathStamp, OfNothingThereIsNone) { EXPECT_FALSE(stamp_of("/nowhere/at/all")); }

}  // namespace
}  // namespace brigade
