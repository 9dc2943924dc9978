#include "base/fd_packet.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/io.h"

namespace brigade {
namespace {

/// Room for one descriptor beside a packet.
union Beside {
  cmsghdr head;
  char bytes[CMSG_SPACE(sizeof(int))];
};

}  // namespace

Result<FdSockets> open_fd_sockets() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return error_of_errno("cannot open a pair of sockets");
  return FdSockets{OwnedFd(ends[0]), OwnedFd(ends[1])};
}

Result<void> send_fd(int socket, std::string_view text, int fd) {
  Beside beside{};
  iovec part{const_cast<char*>(text.data()), std::min(text.size(), kFdPacketBytesMax)};
  msghdr packet{};
  packet.msg_iov = &part;
  packet.msg_iovlen = 1;
  if (fd >= 0) {
    packet.msg_control = beside.bytes;
    packet.msg_controllen = sizeof beside.bytes;
    cmsghdr* const head = CMSG_FIRSTHDR(&packet);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
  }
  if (retry([&] { return sendmsg(socket, &packet, MSG_NOSIGNAL); }) >= 0) return {};
  return error_of_errno("cannot send a descriptor");
}

Result<std::optional<FdPacket>> receive_fd(int socket) {
  Beside beside{};
  FdPacket received;
  received.text.resize(kFdPacketBytesMax);
  iovec part{received.text.data(), received.text.size()};
  msghdr packet{};
  packet.msg_iov = &part;
  packet.msg_iovlen = 1;
  packet.msg_control = beside.bytes;
  packet.msg_controllen = sizeof beside.bytes;
  const ssize_t bytes = retry([&] { return recvmsg(socket, &packet, MSG_CMSG_CLOEXEC); });
  if (bytes < 0) return error_of_errno("cannot receive a descriptor");
  received.text.resize(static_cast<std::size_t>(bytes));
  const cmsghdr* const head = CMSG_FIRSTHDR(&packet);
  if (head != nullptr && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(head), sizeof fd);
    received.fd.reset(fd);
  }
  if (bytes == 0 && received.fd.get() < 0) return std::optional<FdPacket>();
  return std::optional(std::move(received));
}

}  // namespace brigade
