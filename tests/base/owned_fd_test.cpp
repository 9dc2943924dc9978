#include "base/owned_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace brigade {
namespace {

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

}  // namespace
}  // namespace brigade
