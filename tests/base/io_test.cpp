#include "base/io.h"
#include "base/mapping.h"
#include "base/owned_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <thread>
#include <utility>

#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

TEST(Retry, IsForInterruptedCallsAlone) {
  int calls = 0;
  const auto call = [&] {
    errno = ++calls < 3 ? EINTR : EIO;
    return -1;
  };
  EXPECT_EQ(retry(call), -1);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(retry([] { return 7; }), 7);
}

TEST(ErrorOfErrno, SaysWhatAndWhyAndHowToGetMoreDescriptors) {
  errno = ENOENT;
  EXPECT_EQ(error_of_errno("cannot open a").message, "cannot open a: No such file or directory");
  EXPECT_EQ(error_of_errno("cannot open", EMFILE).message,
            "cannot open: Too many open files; raise the limit with `ulimit -n`");
}

TEST(ReadAndWrite, GoOnUntilEverythingIsThere) {
  const TemporaryFolder folder;
  const OwnedFd file(open(folder.write("a", "").c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_TRUE(write_all(file.get(), "0123456789"));
  EXPECT_TRUE(write_all_at(file.get(), "ab", 3));
  EXPECT_EQ(read_start(file.get(), 100), "012ab56789");
  EXPECT_EQ(read_start(file.get(), 4), "012a");
  char bytes[4];
  EXPECT_EQ(read_all_at(file.get(), bytes, 4, 8), 2);
  EXPECT_EQ(std::string_view(bytes, 2), "89");
}

TEST(ReadAndWrite, SayWhyNot) {
  EXPECT_EQ(read_start(-1, 4), std::nullopt);
  EXPECT_EQ(errno, EBADF);
  EXPECT_FALSE(write_all(-1, "a"));
  EXPECT_FALSE(write_all_at(-1, "a", 0));
}

TEST(ReadAndWrite, APipeTakesMoreThanItHolds) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const OwnedFd reader(ends[0]);
  OwnedFd writer(ends[1]);
  const std::string sent(1 << 20, 'x');
  std::thread thread([&] {
    EXPECT_TRUE(write_all(writer.get(), sent));
    writer.reset();
  });
  std::size_t got = 0;
  char bytes[1000];
  for (ssize_t count = 1; count > 0; got += static_cast<std::size_t>(count))
    count = retry([&] { return read(reader.get(), bytes, sizeof bytes); });
  thread.join();
  EXPECT_EQ(got, sent.size());
}

bool is_open(int fd) { return fcntl(fd, F_GETFD) != -1; }

TEST(OwnedFd, IsClosedWithItsOwner) {
  const int fd = open("/dev/null", O_RDONLY);
  { const OwnedFd owned(fd); }
  EXPECT_FALSE(is_open(fd));
}

TEST(OwnedFd, MovesItsDescriptor) {
  const int fd = open("/dev/null", O_RDONLY);
  OwnedFd first(fd);
  OwnedFd second(std::move(first));
  EXPECT_EQ(second.get(), fd);
  OwnedFd third(open("/dev/null", O_RDONLY));
  const int replaced = third.get();
  third = std::move(second);
  EXPECT_FALSE(is_open(replaced));
  EXPECT_EQ(third.get(), fd);
  third.reset();
  EXPECT_EQ(third.get(), -1);
  EXPECT_FALSE(is_open(fd));
}

OwnedFd file_of(std::size_t bytes) {
  OwnedFd fd(memfd_create("joined", MFD_CLOEXEC));
  EXPECT_EQ(ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
  return fd;
}

Result<Mapping> map(const FilePart& first, const FilePart& second) {
  const FilePart parts[] = {first, second};
  return Mapping::of(parts, MapMode::read_write);
}

TEST(Mapping, IsTwoFilesInASlot) {
  const OwnedFd first = file_of(4096);
  const OwnedFd second = file_of(3 * 4096);
  const auto memory = map({first.get(), 0, 4096}, {second.get(), 4096, 8192});
  ASSERT_TRUE(memory) << memory.error().message;
  std::memcpy(memory->data() + 4094, "abcd", 4);
  char text[2];
  EXPECT_EQ(pread(first.get(), text, 2, 4094), 2);
  EXPECT_EQ(std::memcmp(text, "ab", 2), 0);
  EXPECT_EQ(pread(second.get(), text, 2, 4096), 2);
  EXPECT_EQ(std::memcmp(text, "cd", 2), 0);
}

TEST(Mapping, Moves) {
  const OwnedFd first = file_of(4096);
  const OwnedFd second = file_of(4096);
  auto memory = map({first.get(), 0, 4096}, {second.get(), 0, 4096});
  Mapping other;
  other = std::move(*memory);
  other.data()[8191] = std::byte{7};
  char byte = 0;
  EXPECT_EQ(pread(second.get(), &byte, 1, 4095), 1);
  EXPECT_EQ(byte, 7);
}

TEST(Mapping, WhatCannotBeMappedIsSaid) {
  const OwnedFd first = file_of(4096);
  const auto memory = map({first.get(), 0, 4096}, {-1, 0, 4096});
  ASSERT_FALSE(memory);
  EXPECT_NE(memory.error().message.find("cannot map 8192 bytes"), std::string::npos);
}

}  // namespace
}  // namespace brigade
