#include "pipeline/state/cache_file_writer.h"
#include "pipeline/state/cache_reuse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>

#include <brigade/text.h>
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::HasSubstr;

using Kind = CacheFileLook::Kind;

struct Kept : testing::Test {
  TemporaryFolder folder;
  std::string path = folder.path() / "x.cache";
  std::string lock = path + ".lock";

  static CacheFileHeader header() {
    CacheFileHeader header;
    header.slots = 10;
    header.data_bytes = 8192;
    header.arrays = {{{"x", u8, {4}}, 4096, 4}};
    header.contents = "a = 1\n";
    header.contents_hash = cache_contents_hash(header.contents);
    return header;
  }
  std::string error_of_create() {
    const auto made = CacheFileWriter::create(path, header());
    return made ? "no error" : made.error().message;
  }
};

TEST_F(Kept, HasItsNameOnlyOnceItIsWhole) {
  auto file = CacheFileWriter::create(path, header());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(std::filesystem::file_size(lock), 0u);
  const std::string nameless = concat("/proc/self/fd/", (*file)->fd());
  EXPECT_EQ(std::filesystem::file_size(nameless), kCacheHeaderBytes + 8192);
  EXPECT_EQ(look_at_cache_file(nameless).problem, "is not complete");
  ASSERT_EQ(pwrite((*file)->fd(), "slot", 3, kCacheHeaderBytes), 3);
  ASSERT_TRUE((*file)->publish(9));
  EXPECT_FALSE(std::filesystem::exists(lock)) << "another run may make it anew";
  file->reset();
  const CacheFileLook look = look_at_cache_file(path);
  EXPECT_EQ(look.kind, Kind::usable);
  EXPECT_EQ(look.header.samples, 9u);
  EXPECT_EQ(look.header.contents, "a = 1\n");
}

TEST_F(Kept, GivesTheDiskBackUnlessPublished) {
  CacheFileWriter::create(path, header()).value().reset();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(Kept, IsWrittenByOneAtATime) {
  const auto first = CacheFileWriter::create(path, header());
  EXPECT_THAT(error_of_create(), HasSubstr(path + " is being written by another run"));
  EXPECT_TRUE(std::filesystem::exists(lock));  // the first one's
}

TEST_F(Kept, AKilledRunLeavesItsLockWhichTheNextOneTakesOver) {
  const pid_t child = fork();
  if (child == 0) {
    const auto killed = CacheFileWriter::create(path, header());
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
  ASSERT_TRUE(CacheFileWriter::create(path, header()).value()->publish(9));
  CacheFileHeader other = header();
  other.contents = "a = 2\n";
  ASSERT_TRUE(CacheFileWriter::create(path, other).value()->publish(10));
  EXPECT_EQ(look_at_cache_file(path).header.contents, "a = 2\n");
}

TEST_F(Kept, OverwritesNothingElse) {
  folder.write("x.cache", "precious");
  EXPECT_EQ(error_of_create(), path + " is not a Brigade cache; it is not overwritten");
  std::filesystem::remove(path);
  auto file = CacheFileWriter::create(path, header());
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
  const auto made = CacheFileWriter::create(path, large);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("which the disk cannot provide: "));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(Kept, LooksAtWhatIsThere) {
  EXPECT_EQ(look_at_cache_file(path).kind, Kind::none);
  folder.write("x.cache", "");
  EXPECT_EQ(look_at_cache_file(path).kind, Kind::none);
  EXPECT_EQ(look_at_cache_file(folder.path()).kind, Kind::foreign);
  ASSERT_TRUE(CacheFileWriter::create(path, header()).value()->publish(9));
  std::filesystem::resize_file(path, kCacheHeaderBytes);
  EXPECT_EQ(look_at_cache_file(path).kind, Kind::broken);
  EXPECT_THAT(look_at_cache_file(path).problem, HasSubstr("is truncated"));
}

TEST(FileStamps, ChangeWithTheFile) {
  TemporaryFolder folder;
  const std::string path = folder.write("a", "1");
  const std::string before = stamp_of_file(path);
  EXPECT_THAT(before, HasSubstr("file of 1 bytes, "));
  EXPECT_EQ(stamp_of_file(path), before);
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() +
                                             std::chrono::nanoseconds(1'000'000'001));
  EXPECT_NE(stamp_of_file(path), before);
  EXPECT_THAT(stamp_of_file(folder.path()), HasSubstr("folder of "));
  EXPECT_EQ(stamp_of_file(path + ".not"), "missing");
}

}  // namespace
}  // namespace brigade
