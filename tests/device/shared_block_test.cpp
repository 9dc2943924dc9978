#include "device/shared_block.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "tests/support/message_of.h"

namespace brigade {
namespace {

TEST(SharedBlock, IsOfWholePagesAndStaysSo) {
  const OwnedFd fd = make_shared_block(5000).value();
  const Mapping mapping = map_shared_block(fd.get(), 5000, MapMode::read_write).value();
  EXPECT_EQ(mapping.bytes(), 8192u);
  EXPECT_EQ(mapping.data()[8191], std::byte{0});
  EXPECT_NE(ftruncate(fd.get(), 4096), 0);
}

TEST(SharedBlock, WhatIsNoneIsRefused) {
  const OwnedFd block = make_shared_block(5000).value();
  EXPECT_EQ(message_of(map_shared_block(block.get(), 9000, MapMode::read_only)),
            "expected shared memory of 12288 bytes, found 8192 bytes");
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const OwnedFd one(ends[0]);
  const OwnedFd other(ends[1]);
  EXPECT_EQ(message_of(map_shared_block(one.get(), 5000, MapMode::read_only)),
            "expected shared memory of 8192 bytes, found memory of another kind");
  EXPECT_EQ(message_of(map_shared_block(-1, 5000, MapMode::read_only)),
            "cannot map shared memory: Bad file descriptor");
}

}  // namespace
}  // namespace brigade
