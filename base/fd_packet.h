#pragma once

// Passes descriptors between running processes: packets of a local socket, each
// with a text and descriptors, at most two in a received packet. Inherited
// descriptors need none of this. Any thread, one at a time for each end.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <brigade/export.h>
#include <brigade/result.h>
#include "base/owned_fd.h"

namespace brigade {

inline constexpr std::size_t kPacketFdsMax = 253;       ///< as many as the kernel takes
inline constexpr std::size_t kFdPacketBytesMax = 4096;  ///< of the text; what is longer is cut

struct FdPacket {
  std::string text;
  OwnedFd fd;      ///< close-on-exec; -1: none came
  OwnedFd second;  ///< likewise
};

struct FdSockets {
  OwnedFd one;
  OwnedFd other;
};

/// Both ends are close-on-exec.
BRIGADE_API Result<FdSockets> open_fd_sockets();
/// Waits for room. `fd`: stays open here; -1: none.
BRIGADE_API Result<void> send_fd(int socket, std::string_view text, int fd = -1);
/// The same with several.
BRIGADE_API Result<void> send_fds(int socket, std::string_view text, std::span<const int> fds);
/// Waits for a packet; nothing: nobody has the other end any more.
BRIGADE_API Result<std::optional<FdPacket>> receive_fd(int socket);

}  // namespace brigade
