#include "pipeline/process/kept_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "base/text.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::HasSubstr;
using Kind = KeptLook::Kind;

struct Kept : testing::Test {
  TemporaryFolder folder;
  std::string path = folder.path() / "x.cache";
  std::string lock = path + ".lock";

  static CacheFileHeader header() {
    CacheFileHeader header;
    header.rows = 10;
    header.data_bytes = 8192;
    header.arrays = {{{"x", u8, {4}}, 4096, 4}};
    header.contents = "a = 1\n";
    header.contents_hash = cache_contents_hash(header.contents);
    return header;
  }
  std::string error_of_create() {
    const auto made = KeptFile::create(path, header());
    return made ? "no error" : made.error().message;
  }
};

TEST_F(Kept, HasItsNameOnlyOnceItIsWhole) {
  auto file = KeptFile::create(path, header());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(std::filesystem::file_size(lock), 0u);
  const std::string nameless = concat("/proc/self/fd/", (*file)->fd());
  EXPECT_EQ(std::filesystem::file_size(nameless), kCacheHeaderBytes + 8192);
  EXPECT_EQ(look_at_kept(nameless).problem, "is not complete");
  ASSERT_EQ(pwrite((*file)->fd(), "row", 3, kCacheHeaderBytes), 3);
  ASSERT_TRUE((*file)->publish(9));
  EXPECT_FALSE(std::filesystem::exists(lock)) << "another run may make it anew";
  file->reset();
  const KeptLook look = look_at_kept(path);
  EXPECT_EQ(look.kind, Kind::usable);
  EXPECT_EQ(look.header.samples, 9u);
  EXPECT_EQ(look.header.contents, "a = 1\n");
}

TEST_F(Kept, GivesTheDiskBackUnlessPublished) {
  KeptFile::create(path, header()).value().reset();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(Kept, IsWrittenByOneAtATime) {
  const auto first = KeptFile::create(path, header());
  EXPECT_THAT(error_of_create(), HasSubstr(path + " is being written by another run"));
  EXPECT_TRUE(std::filesystem::exists(lock));  // the first one's
}

TEST_F(Kept, AKilledRunLeavesItsLockWhichTheNextOneTakesOver) {
  const pid_t child = fork();
  if (child == 0) {
    const auto killed = KeptFile::create(path, header());
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(std::filesystem::file_size(lock), 0u);
  std::filesystem::directory_iterator files(folder.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
  EXPECT_EQ(error_of_create(), "no error");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(Kept, ReplacesAnOlderOne) {
  ASSERT_TRUE(KeptFile::create(path, header()).value()->publish(9));
  CacheFileHeader other = header();
  other.contents = "a = 2\n";
  ASSERT_TRUE(KeptFile::create(path, other).value()->publish(10));
  EXPECT_EQ(look_at_kept(path).header.contents, "a = 2\n");
}

TEST_F(Kept, OverwritesNothingElse) {
  folder.write("x.cache", "precious");
  EXPECT_EQ(error_of_create(), path + " is no cache of Brigade; it is not overwritten");
  std::filesystem::remove(path);
  auto file = KeptFile::create(path, header());
  folder.write("x.cache", "precious");  // meanwhile
  EXPECT_THAT((*file)->publish(9).error().message, HasSubstr("it is not overwritten"));
}

TEST_F(Kept, WhatCannotBeWrittenIsSaid) {
  path = "/nowhere/x.cache";
  EXPECT_EQ(error_of_create(), "cannot write /nowhere/x.cache.lock: No such file or directory");
}

TEST_F(Kept, WhatTheDiskDoesNotHaveIsSaid) {
  CacheFileHeader large = header();
  large.data_bytes = std::uint64_t{1} << 60;
  const auto made = KeptFile::create(path, large);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("which the disk does not give: "));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(Kept, LooksAtWhatIsThere) {
  EXPECT_EQ(look_at_kept(path).kind, Kind::none);
  folder.write("x.cache", "");
  EXPECT_EQ(look_at_kept(path).kind, Kind::none);
  EXPECT_EQ(look_at_kept(folder.path()).kind, Kind::foreign);
  ASSERT_TRUE(KeptFile::create(path, header()).value()->publish(9));
  std::filesystem::resize_file(path, kCacheHeaderBytes);
  EXPECT_EQ(look_at_kept(path).kind, Kind::broken);
  EXPECT_THAT(look_at_kept(path).problem, HasSubstr("is truncated"));
}

}  // namespace
}  // namespace brigade
