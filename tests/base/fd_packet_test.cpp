#include "base/fd_packet.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <string>

#include "tests/support/message_of.h"

namespace brigade {
namespace {

TEST(FdPacket, CarriesADescriptorThatIsANewOneOfTheSameFile) {
  const FdSockets sockets = open_fd_sockets().value();
  OwnedFd sent(memfd_create("sent", MFD_CLOEXEC));
  ASSERT_EQ(write(sent.get(), "here", 4), 4);
  ASSERT_TRUE(send_fd(sockets.one.get(), "ring 3", sent.get()).ok());
  const int number = sent.get();
  const auto packet = receive_fd(sockets.other.get()).value();
  ASSERT_TRUE(packet.has_value());
  EXPECT_EQ(packet->text, "ring 3");
  EXPECT_NE(packet->fd.get(), number);
  EXPECT_NE(fcntl(packet->fd.get(), F_GETFD) & FD_CLOEXEC, 0);
  sent.reset();
  char text[5] = {};
  EXPECT_EQ(pread(packet->fd.get(), text, 4, 0), 4);
  EXPECT_STREQ(text, "here");
}

TEST(FdPacket, ATextAloneCarriesNone) {
  const FdSockets sockets = open_fd_sockets().value();
  ASSERT_TRUE(send_fd(sockets.one.get(), std::string(2 * kFdPacketBytesMax, 'x')).ok());
  const auto packet = receive_fd(sockets.other.get()).value();
  ASSERT_TRUE(packet.has_value());
  EXPECT_EQ(packet->text.size(), kFdPacketBytesMax);
  EXPECT_EQ(packet->fd.get(), -1);
}

TEST(FdPacket, WhereNobodyHasTheOtherEndNothingComes) {
  FdSockets sockets = open_fd_sockets().value();
  ASSERT_TRUE(send_fd(sockets.one.get(), "last").ok());
  sockets.one.reset();
  EXPECT_EQ(receive_fd(sockets.other.get()).value()->text, "last");
  EXPECT_FALSE(receive_fd(sockets.other.get()).value().has_value());
  EXPECT_EQ(message_of(send_fd(sockets.other.get(), "")), "cannot send a descriptor: Broken pipe");
}

}  // namespace
}  // namespace brigade
