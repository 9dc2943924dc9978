#include "transports/memory_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/support/message_of.h"
#include "transports/limits.h"

namespace brigade {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kMebibyte = 1 << 20;

/// Lowers a soft limit and puts it back.
class LoweredLimit {
 public:
  LoweredLimit(__rlimit_resource_t which, rlim_t value) : which_(which) {
    getrlimit(which_, &before_);
    rlimit lowered = before_;
    lowered.rlim_cur = value;
    EXPECT_EQ(setrlimit(which_, &lowered), 0);
  }
  ~LoweredLimit() { setrlimit(which_, &before_); }

 private:
  const __rlimit_resource_t which_;
  rlimit before_{};
};

std::uint64_t status_kib(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(field + ":", 0) == 0) return std::stoull(line.substr(field.size() + 1));
  }
  return 0;
}

TEST(MemoryFile, IsZeroedAndSharedBetweenItsMappings) {
  const MemoryFile file = MemoryFile::create("test", 3 * kPageBytes).value();
  EXPECT_EQ(file.bytes(), memory_bytes(file.fd()).value());
  const auto one = map_memory(file.fd(), file.bytes(), MapMode::read_write).value();
  const auto two = map_memory(file.fd(), file.bytes(), MapMode::read_write).value();
  EXPECT_EQ(one.bytes(), file.bytes());
  EXPECT_NE(one.data(), two.data());
  EXPECT_EQ(two.data()[5000], std::byte{0});
  one.data()[5000] = std::byte{7};
  EXPECT_EQ(two.data()[5000], std::byte{7});
}

TEST(MemoryFile, CannotBeResizedByAnybody) {
  const MemoryFile file = MemoryFile::create("test", kMebibyte).value();
  EXPECT_NE(ftruncate(file.fd(), 0), 0);
  EXPECT_EQ(errno, EPERM);
  EXPECT_NE(ftruncate(file.fd(), 2 * kMebibyte), 0);
  EXPECT_NE(fcntl(file.fd(), F_ADD_SEALS, F_SEAL_WRITE), 0);  // nor sealed any further
  EXPECT_EQ(memory_bytes(file.fd()).value(), kMebibyte);
}

TEST(MemoryFile, NobodyWritesThroughTheReadOnlyDescriptor) {
  MemoryFile file = MemoryFile::create("test", kMebibyte).value();
  ASSERT_TRUE(file.open_read_only());
  const int fd = file.read_only_fd();
  ASSERT_TRUE(file.open_read_only());
  EXPECT_EQ(file.read_only_fd(), fd);
  EXPECT_EQ(write(fd, "x", 1), -1);
  EXPECT_EQ(mmap(nullptr, kMebibyte, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
  EXPECT_EQ(errno, EACCES);
  EXPECT_FALSE(map_memory(fd, kMebibyte, MapMode::read_write).ok());

  const auto reading = map_memory(fd, kMebibyte, MapMode::read_only).value();
  EXPECT_EQ(mprotect(reading.data(), kMebibyte, PROT_READ | PROT_WRITE), -1);
  const auto writing = map_memory(file.fd(), kMebibyte, MapMode::read_write).value();
  writing.data()[9] = std::byte{3};
  EXPECT_EQ(reading.data()[9], std::byte{3});
}

TEST(MemoryFileDeathTest, AStoreThroughAReadOnlyMappingIsASignal) {
  MemoryFile file = MemoryFile::create("test", kMebibyte).value();
  ASSERT_TRUE(file.open_read_only());
  const auto store = [](int fd, MapMode mode) {
    const auto memory = map_memory(fd, kMebibyte, mode).value();
    memory.data()[0] = std::byte{1};
    _exit(0);
  };
  EXPECT_EXIT(store(file.fd(), MapMode::read_write), testing::ExitedWithCode(0), "");
  EXPECT_DEATH(store(file.read_only_fd(), MapMode::read_only), "");
}

TEST(MemoryFileDeathTest, AForkedChildUnmapsNothingThatIsInItsPlace) {
  const MemoryFile file = MemoryFile::create("test", kMebibyte).value();
  auto memory = map_memory(file.fd(), kMebibyte, MapMode::read_write).value();
  const auto drop = [&] {
    auto* const place = reinterpret_cast<char*>(memory.data());
    const void* const mapped = mmap(place, kMebibyte, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (mapped != place) _exit(1);
    { const Mapping dropped = std::move(memory); }
    place[0] = 1;
    _exit(0);
  };
  EXPECT_EXIT(drop(), testing::ExitedWithCode(0), "");
}

TEST(MemoryFileDeathTest, AForkedChildHasNoneOfIt) {
  const MemoryFile file = MemoryFile::create("test", kMebibyte).value();
  const auto memory = map_memory(file.fd(), kMebibyte, MapMode::read_write).value();
  const auto store = [&] {
    memory.data()[0] = std::byte{1};
    _exit(0);
  };
  EXPECT_DEATH(store(), "");
  EXPECT_EQ(memory.data()[0], std::byte{0});
  ASSERT_EQ(madvise(memory.data(), kMebibyte, MADV_DOFORK), 0);
  EXPECT_EXIT(store(), testing::ExitedWithCode(0), "");
  EXPECT_EQ(memory.data()[0], std::byte{1});
}

// Where the kernel knows it: since 6.3.
TEST(MemoryFile, CanNeverBeExecuted) {
  const int probe = memfd_create("probe", 0x0008 /* MFD_NOEXEC_SEAL */);
  if (probe < 0) GTEST_SKIP() << "this kernel does not know MFD_NOEXEC_SEAL";
  close(probe);
  const MemoryFile file = MemoryFile::create("test", kMebibyte).value();
  const MemoryFile holding = MemoryFile::create_holding("test", "text").value();
  for (const int fd : {file.fd(), holding.fd()}) {
    EXPECT_NE(fcntl(fd, F_GET_SEALS) & 0x0020 /* F_SEAL_EXEC */, 0);
    EXPECT_EQ(fchmod(fd, 0700), -1);
  }
}

TEST(MemoryFile, WithContentsIsReadAndNeverChanged) {
  const std::string text(3 * kPageBytes + 5, 'x');
  const MemoryFile file = MemoryFile::create_holding("test", text).value();
  EXPECT_EQ(file.bytes(), text.size());
  EXPECT_EQ(read_memory(file.fd(), text.size()).value(), text);
  EXPECT_EQ(read_memory(file.fd(), text.size() - 1).error().message,
            "expected at most 12292 bytes of memory, found 12293");
  EXPECT_EQ(pwrite(file.fd(), "y", 1, 0), -1);
  EXPECT_EQ(ftruncate(file.fd(), 1), -1);
  EXPECT_EQ(ftruncate(file.fd(), 1 << 20), -1);
  EXPECT_EQ(read_memory(MemoryFile::create_holding("test", "")->fd(), 0).value(), "");
}

TEST(MemoryFile, ClosesItsDescriptorsAndGivesThemAwayWhenMovedAndToNoOtherProgram) {
  int fd = -1;
  int read_only_fd = -1;
  {
    MemoryFile file = MemoryFile::create("test", kMebibyte).value();
    ASSERT_TRUE(file.open_read_only());
    fd = file.fd();
    read_only_fd = file.read_only_fd();
    for (const int one : {fd, read_only_fd}) EXPECT_NE(fcntl(one, F_GETFD) & FD_CLOEXEC, 0);
    MemoryFile other = std::move(file);
    EXPECT_EQ(other.fd(), fd);
    EXPECT_EQ(other.bytes(), kMebibyte);
    MemoryFile third;
    third = std::move(other);
    EXPECT_EQ(third.read_only_fd(), read_only_fd);
    EXPECT_NE(fcntl(fd, F_GETFD), -1);
  }
  EXPECT_EQ(fcntl(fd, F_GETFD), -1);
  EXPECT_EQ(fcntl(read_only_fd, F_GETFD), -1);
}

TEST(MemoryFile, HasNoNameAnybodyCouldLeaveBehind) {
  if (!std::filesystem::exists("/dev/shm")) GTEST_SKIP() << "no /dev/shm here";
  const auto count = [] {
    return std::distance(std::filesystem::directory_iterator("/dev/shm"), {});
  };
  const auto before = count();
  const MemoryFile file = MemoryFile::create("test", kMebibyte).value();
  const auto mapping = map_memory(file.fd(), file.bytes(), MapMode::read_write).value();
  EXPECT_EQ(count(), before);
}

TEST(MemoryFile, AFileSizeLimitIsAnErrorNotASignal) {
  const LoweredLimit limit(RLIMIT_FSIZE, kMebibyte - 1);
  const auto file = MemoryFile::create("brigade-ring-augment", kMebibyte);
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().message,
            "shared memory \"brigade-ring-augment\" needs 1048576 bytes, but files are limited to "
            "1048575; raise the limit with `ulimit -f unlimited`");
}

TEST(MemoryFile, TooFewDescriptorsIsAnErrorThatSaysSo) {
  MemoryFile file = MemoryFile::create("test", kMebibyte).value();
  std::optional<LoweredLimit> limit(std::in_place, RLIMIT_NOFILE, 0);
  const auto another = MemoryFile::create("another", kMebibyte);
  const auto read_only = file.open_read_only();
  limit.reset();  // sanitizers open files when they look at objects
  ASSERT_FALSE(another.ok());
  EXPECT_THAT(another.error().message, HasSubstr("\"another\": Too many open files"));
  EXPECT_THAT(another.error().message, HasSubstr("ulimit -n"));
  ASSERT_FALSE(read_only.ok());
  EXPECT_THAT(read_only.error().message, HasSubstr("ulimit -n"));
}

TEST(MapMemory, WhatCannotBeIsAnErrorWithItsSize) {
  EXPECT_THAT(message_of(map_memory(-1, kMebibyte, MapMode::read_write)),
              HasSubstr("cannot map 1048576 bytes"));
  EXPECT_THAT(message_of(populate(nullptr, kMebibyte, -1, 0)),
              HasSubstr("cannot allocate 1048576 bytes of memory"));
  EXPECT_FALSE(memory_bytes(-1).ok());
}

TEST(MapMemory, IsNothingUntilItIsCalled) {
  const Mapping memory;
  EXPECT_EQ(memory.data(), nullptr);
  EXPECT_EQ(memory.bytes(), 0u);
}

TEST(Populate, GivesEveryPageItsMemoryAndKeepsWhatIsThere) {
  constexpr std::uint64_t bytes = 16 * kMebibyte;
  const MemoryFile file = MemoryFile::create("test", bytes).value();
  const auto memory = map_memory(file.fd(), bytes, MapMode::read_write).value();
  memory.data()[5 * kMebibyte] = std::byte{42};
  const std::uint64_t before = status_kib("RssShmem");
  ASSERT_TRUE(populate(memory.data(), bytes, file.fd(), 0));
  std::vector<unsigned char> resident(bytes / kPageBytes);
  ASSERT_EQ(mincore(memory.data(), bytes, resident.data()), 0);
  EXPECT_THAT(resident, testing::Each(testing::Truly([](unsigned char c) { return c & 1; })));
  EXPECT_GE(status_kib("RssShmem"), before + 15 * 1024);
  EXPECT_EQ(memory.data()[5 * kMebibyte], std::byte{42});
  EXPECT_EQ(memory.data()[5 * kMebibyte + 1], std::byte{0});
}

std::uint64_t huge_pages(const char* which) {
  std::ifstream file(std::string("/sys/kernel/mm/hugepages/hugepages-2048kB/") + which);
  std::uint64_t pages = 0;
  return file >> pages ? pages : 0;
}

TEST(MapMemory, BeginsOnAPageOfTheSizeThatIsAskedFor) {
  const MemoryFile file = MemoryFile::create("test", 4 * kMebibyte).value();
  for (int i = 0; i < 5; ++i) {
    const auto memory =
        map_memory(file.fd(), 4 * kMebibyte, MapMode::read_write, kHugePageBytes).value();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % kHugePageBytes, 0u);
    memory.data()[4 * kMebibyte - 1] = std::byte{7};
    const auto other = map_memory(file.fd(), 4 * kMebibyte, MapMode::read_only).value();
    EXPECT_EQ(other.data()[4 * kMebibyte - 1], std::byte{7});
  }
}

TEST(HugePages, AreAllThereWhenTheFileIsMappedOrTheMappingIsAnError) {
  const std::uint64_t bytes = (huge_pages("nr_hugepages") + 1) * kHugePageBytes;
  const auto file = MemoryFile::create("test", bytes, kHugePageBytes);
  if (!file) GTEST_SKIP() << "no huge pages of 2 MiB in this kernel: " << file.error().message;
  const auto memory = map_memory(file->fd(), bytes, MapMode::read_write, kHugePageBytes);
  ASSERT_FALSE(memory.ok());
  EXPECT_THAT(memory.error().message, HasSubstr("reserve more huge pages"));
}

TEST(HugePages, HoldWhatAFileOfUsualPagesDoes) {
  constexpr std::uint64_t bytes = 2 * kHugePageBytes;
  if (huge_pages("free_hugepages") < huge_pages("resv_hugepages") + 2)
    GTEST_SKIP() << "no two huge pages of 2 MiB are reserved and free (sysctl vm.nr_hugepages)";
  MemoryFile file = MemoryFile::create("test", bytes, kHugePageBytes).value();
  ASSERT_TRUE(file.open_read_only().ok());
  const auto memory = map_memory(file.fd(), bytes, MapMode::read_write, kHugePageBytes).value();
  const auto reading =
      map_memory(file.read_only_fd(), bytes, MapMode::read_only, kHugePageBytes).value();
  EXPECT_EQ(memory_bytes(file.fd()).value(), bytes);
  EXPECT_NE(ftruncate(file.fd(), 0), 0);  // sealed
  // As rings are filled: ranges of usual pages.
  const std::uint64_t at = 300 * kPageBytes;
  ASSERT_TRUE(populate(memory.data() + at, 4 * kPageBytes, file.fd(), at));
  EXPECT_EQ(memory.data()[0], std::byte{0});
  ASSERT_TRUE(populate(memory.data(), bytes, file.fd(), 0));
  memory.data()[bytes - 1] = std::byte{7};
  EXPECT_EQ(reading.data()[bytes - 1], std::byte{7});
}

TEST(ReleasePages, GivesBackWholePagesOnly) {
  const MemoryFile file = MemoryFile::create("test", 8 * kPageBytes).value();
  const Mapping memory = map_memory(file.fd(), file.bytes(), MapMode::read_write).value();
  std::memset(memory.data(), 7, file.bytes());
  const auto blocks = [&] {
    struct stat status;
    fstat(file.fd(), &status);
    return status.st_blocks;
  };
  const auto before = blocks();
  release_pages(memory.data() + 100, 3 * kPageBytes);  // pages 1 and 2 lie inside
  EXPECT_EQ(before - blocks(), 2 * static_cast<long>(kPageBytes) / 512);
  EXPECT_EQ(memory.data()[kPageBytes - 1], std::byte{7});
  EXPECT_EQ(memory.data()[kPageBytes], std::byte{0});
  EXPECT_EQ(memory.data()[3 * kPageBytes], std::byte{7});
  release_pages(memory.data() + 4 * kPageBytes + 1, kPageBytes);  // no whole page
  EXPECT_EQ(memory.data()[5 * kPageBytes], std::byte{7});
}

}  // namespace
}  // namespace brigade
