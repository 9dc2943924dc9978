#include "base/fd_packet.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <brigade/text.h>
#include "base/io.h"

namespace brigade {
namespace {

/// Room for the descriptors beside a packet that is received.
union Beside {
  cmsghdr head;
  char bytes[CMSG_SPACE(2 * sizeof(int))];
};

}  // namespace

Result<FdSockets> open_fd_sockets() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return error_of_errno("cannot open a socket pair");
  return FdSockets{OwnedFd(ends[0]), OwnedFd(ends[1])};
}

Result<void> send_fd(int socket, std::string_view text, int fd) {
  return send_fds(socket, text, {&fd, fd < 0 ? 0u : 1u});
}

Result<void> send_fds(int socket, std::string_view text, std::span<const int> fds) {
  if (fds.size() > kPacketFdsMax)
    return Error{concat("a packet has ", fds.size(), " descriptors, more than the limit of ",
                        kPacketFdsMax)};
  alignas(cmsghdr) char beside[CMSG_SPACE(kPacketFdsMax * sizeof(int))] = {};
  iovec part{const_cast<char*>(text.data()), std::min(text.size(), kFdPacketBytesMax)};
  msghdr packet{};
  packet.msg_iov = &part;
  packet.msg_iovlen = 1;
  if (!fds.empty()) {
    packet.msg_control = beside;
    packet.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* const head = CMSG_FIRSTHDR(&packet);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(head), fds.data(), fds.size_bytes());
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
    int fds[] = {-1, -1};
    std::memcpy(fds, CMSG_DATA(head), std::min(sizeof fds, head->cmsg_len - CMSG_LEN(0)));
    received.fd.reset(fds[0]);
    received.second.reset(fds[1]);
  }
  if (bytes == 0 && received.fd.get() < 0) return std::optional<FdPacket>();
  return std::optional(std::move(received));
}

}  // namespace brigade
