// Device memory of which only a process without a device has the descriptor, as a supervisor does:
// who made it and wrote it was killed, and nobody has it mapped.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "base/fd_packet.h"
#include "device/open_device.h"

namespace brigade {
namespace {

constexpr std::uint64_t kBytes = 3 << 20;

/// Runs in a child, since a process that has begun CUDA gives its children none. Its status.
template <class Work>
int status_of_child(Work&& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

/// One copy, from or to `bytes`, and the wait for it.
template <class Copy>
Result<void> map_and_copy(const std::shared_ptr<Device>& device, int fd, HostAccess access,
                          Copy copy) {
  BRIGADE_ASSIGN(const auto memory,
                 own<SharedDeviceMemory>(device, device->map_shared(fd, kBytes, access)));
  BRIGADE_ASSIGN(const auto stream, own<OwnedStream>(device, device->create_stream()));
  BRIGADE_ASSIGN(const auto event, own<OwnedEvent>(device, device->create_event()));
  BRIGADE_TRY(copy(memory.get(), stream.get()));
  BRIGADE_TRY(device->record(event.get(), stream.get()));
  return device->wait(event.get());
}

Result<void> make_and_write(const char* name, int socket) {
  BRIGADE_ASSIGN(const auto device, open_device(name));
  BRIGADE_ASSIGN(const OwnedFd fd, device->make_shared(kBytes));
  BRIGADE_TRY(send_fd(socket, "", fd.get()));
  const std::vector<std::byte> bytes(kBytes, std::byte{7});
  return map_and_copy(device, fd.get(), HostAccess::read_write, [&](DeviceAddress to, void* on) {
    return device->copy_to_device(to, bytes.data(), kBytes, on);
  });
}

Result<bool> is_there(const char* name, int fd) {
  BRIGADE_ASSIGN(const auto device, open_device(name));
  std::vector<std::byte> bytes(kBytes);
  BRIGADE_TRY(map_and_copy(device, fd, HostAccess::read_only, [&](DeviceAddress from, void* on) {
    return device->copy_to_host(bytes.data(), from, kBytes, on);
  }));
  return bytes == std::vector<std::byte>(kBytes, std::byte{7});
}

constexpr int kNoDevice = 77;

/// 0: what was written is there. In a process that has not begun CUDA.
int keep_memory(const char* name) {
  if (status_of_child([&] { return open_device(name).ok(); }) != 0) return kNoDevice;
  FdSockets sockets = open_fd_sockets().value();
  const int killed = status_of_child([&] {
    if (make_and_write(name, sockets.other.get())) raise(SIGKILL);
    return false;
  });
  if (!WIFSIGNALED(killed)) return 2;
  const OwnedFd kept = std::move(receive_fd(sockets.one.get()).value()->fd);
  const int read = status_of_child([&] {
    const auto there = is_there(name, kept.get());
    return there && *there;
  });
  return read == 0 ? 0 : 3;
}

/// Whether the program of its own ended as it should, or has no device, which it tells through
/// `ended`: threadsafe death tests execute this program anew, and that one has not begun CUDA.
struct EndedWell {
  int* ended;

  bool operator()(int status) const {
    *ended = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return *ended == 0 || *ended == kNoDevice;
  }
};

class KeptMemory : public testing::TestWithParam<const char*> {};

TEST_P(KeptMemory, OutlivesWhoMadeItWhoWroteItAndEveryMapping) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  int ended = -1;
  EXPECT_EXIT(_exit(keep_memory(GetParam())), EndedWell{&ended}, "");
  if (ended == kNoDevice) GTEST_SKIP() << "no GPU: " << GetParam() << " cannot be had";
}

INSTANTIATE_TEST_SUITE_P(OnGpu, KeptMemory, testing::Values("cuda:0"));
INSTANTIATE_TEST_SUITE_P(OnHost, KeptMemory, testing::Values("host"));

}  // namespace
}  // namespace brigade
