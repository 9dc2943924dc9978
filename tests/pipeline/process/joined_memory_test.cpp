#include "pipeline/process/joined_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "base/owned_fd.h"

namespace brigade {
namespace {

OwnedFd file_of(std::size_t bytes) {
  OwnedFd fd(memfd_create("joined", MFD_CLOEXEC));
  EXPECT_EQ(ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
  return fd;
}

TEST(JoinedMemory, IsTwoFilesInARow) {
  const OwnedFd first = file_of(4096);
  const OwnedFd second = file_of(3 * 4096);
  const auto memory = JoinedMemory::map({first.get(), 0, 4096}, {second.get(), 4096, 8192});
  ASSERT_TRUE(memory) << memory.error().message;
  std::memcpy(memory->data() + 4094, "abcd", 4);
  char text[2];
  EXPECT_EQ(pread(first.get(), text, 2, 4094), 2);
  EXPECT_EQ(std::memcmp(text, "ab", 2), 0);
  EXPECT_EQ(pread(second.get(), text, 2, 4096), 2);
  EXPECT_EQ(std::memcmp(text, "cd", 2), 0);
}

TEST(JoinedMemory, Moves) {
  const OwnedFd first = file_of(4096);
  const OwnedFd second = file_of(4096);
  auto memory = JoinedMemory::map({first.get(), 0, 4096}, {second.get(), 0, 4096});
  JoinedMemory other;
  other = std::move(*memory);
  other.data()[8191] = std::byte{7};
  char byte = 0;
  EXPECT_EQ(pread(second.get(), &byte, 1, 4095), 1);
  EXPECT_EQ(byte, 7);
}

TEST(JoinedMemory, WhatCannotBeMappedIsSaid) {
  const OwnedFd first = file_of(4096);
  const auto memory = JoinedMemory::map({first.get(), 0, 4096}, {-1, 0, 4096});
  ASSERT_FALSE(memory);
  EXPECT_NE(memory.error().message.find("cannot map 8192 bytes"), std::string::npos);
}

}  // namespace
}  // namespace brigade
