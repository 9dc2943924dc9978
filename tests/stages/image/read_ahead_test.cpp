#include "stages/image/read_ahead.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

// Whether pages come is the kernel's decision (and on a tmpfs they are always there), so this says
// only that nothing else changes: no descriptor is left open, nothing waits, nothing is an error.
TEST(ReadAheadTest, LeavesNothingBehindWhateverLiesThere) {
  TemporaryFolder folder;
  const std::string file = folder.write("a.jpg", std::string(300'000, 'x'));
  const std::string pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int before = open("/dev/null", O_RDONLY);
  close(before);
  for (const std::string& path : {file, pipe, file + ".none", folder.path().string()})
    ReadAhead().file(path);
  const int fd = open(file.c_str(), O_RDONLY);
  EXPECT_EQ(fd, before) << "the lowest free descriptor is the same";
  read_ahead(fd, 4096, 100'000);
  read_ahead(fd, std::uint64_t{1} << 62, 1);
  EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 0);
  close(fd);
}

TEST(ReadAheadTest, WhatIsInTheCacheIsLookedAtNowAndThen) {
  TemporaryFolder folder;
  const std::string file = folder.write("a.jpg", "just written");
  ReadAhead ahead;
  for (int i = 0; i < 80; ++i) ahead.file(file);
  EXPECT_GE(ahead.opened(), 10u);
  EXPECT_LE(ahead.opened(), 80u) << "all, where the file system cannot say what it has";
  ReadAhead off(false);
  for (int i = 0; i < 80; ++i) off.file(file);
  EXPECT_EQ(off.opened(), 0u);
}

TEST(ReadAheadTest, AfterAFileThatIsNotThereAtOnceAllAreLookedAt) {
  TemporaryFolder folder;
  // A folder cannot be read at all: as good as one that is not in the cache.
  ReadAhead ahead;
  ahead.file(folder.path());
  const std::string file = folder.write("a.jpg", "just written");
  for (int i = 0; i < 63; ++i) ahead.file(file);
  EXPECT_EQ(ahead.opened(), 64u);
}

}  // namespace
}  // namespace brigade
