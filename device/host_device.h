#pragma once

// A GPU emulator in threads of this process, to develop and test copies to a device
// without one, under harder conditions than a GPU. Each stream is a thread, so streams
// overtake one another; a copy waits `delay`, sometimes longer, before it reads, and
// detects whether its source was written between the call and the end of the read.
// That, like a copy that is set to fail, loses the device, as a fault of a GPU does.
//
// Device memory is host memory, an address is a pointer: code that computes on this device
// reads it there. Shared memory is a memfd; each process that maps it has a separate device.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <brigade/export.h>
#include "base/mapping.h"
#include "device/device.h"
#include "device/host_device_options.h"

namespace brigade {

class BRIGADE_API HostDevice final : public Device {
 public:
  static std::shared_ptr<HostDevice> create(const HostDeviceOptions& options = {});
  ~HostDevice() override;

  std::string name() const override { return "host"; }
  int index() const override { return 0; }
  Result<void> check() override;
  Result<DeviceAddress> allocate(std::uint64_t bytes) override;
  void free(DeviceAddress at) override;
  Result<OwnedFd> make_shared(std::uint64_t bytes) override;
  Result<DeviceAddress> map_shared(int fd, std::uint64_t bytes, HostAccess access) override;
  void unmap_shared(DeviceAddress at) override;
  Result<std::byte*> allocate_pinned(std::uint64_t bytes) override;
  void free_pinned(std::byte* at) override;
  Result<std::byte*> register_host(std::byte* at, std::uint64_t bytes, HostAccess access) override;
  void unregister_host(std::byte* at) override;
  Result<DeviceStream> create_stream() override;
  void destroy_stream(DeviceStream stream) override;
  Result<DeviceEvent> create_event() override;
  void destroy_event(DeviceEvent event) override;
  Result<void> copy_to_device(DeviceAddress to, const std::byte* from, std::uint64_t bytes,
                              DeviceStream stream) override;
  Result<void> copy_to_host(std::byte* to, DeviceAddress from, std::uint64_t bytes,
                            DeviceStream stream) override;
  Result<void> compute(DeviceWork work, DeviceStream stream) override;
  Result<void> record(DeviceEvent event, DeviceStream stream) override;
  Result<void> make_wait(DeviceStream stream, DeviceEvent event) override;
  Result<bool> passed(DeviceEvent event) override;
  Result<void> wait(DeviceEvent event) override;

  /// What a kernel would do.
  Result<void> compute(std::function<void()> work, DeviceStream stream);

  /// As if it fell off the bus.
  void lose(std::string why);
  /// Bytes of host memory that are pinned now; of the device, that are allocated.
  std::uint64_t pinned_bytes() const { return sum_of(pinned_); }
  std::uint64_t allocated_bytes() const { return sum_of(allocated_); }

 private:
  class Stream;
  class Event;
  struct Copy;
  using Blocks = std::map<std::uint64_t, std::uint64_t>;  // bytes, by address

  explicit HostDevice(const HostDeviceOptions& options) : options_(options) {}
  Result<void> check_locked() const;
  template <class Condition>
  void wait_until(std::unique_lock<std::mutex>& lock, Condition condition);
  Result<void> enqueue(Copy copy, DeviceStream stream);
  void run(const Copy& copy);
  bool is_of_device(const std::byte* at) const;
  static Result<void> take(Blocks& blocks, std::uint64_t at, std::uint64_t bytes,
                           std::uint64_t limit, std::string_view what);
  void give_back(Blocks& blocks, std::uint64_t at);
  std::uint64_t sum_of(const Blocks& blocks) const;

  const HostDeviceOptions options_;
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::string lost_;  // why; empty: it is there
  std::uint64_t copies_ = 0;
  std::uint64_t events_ = 0;
  Blocks pinned_, allocated_;
  std::map<std::uint64_t, Mapping> shared_;                // by address; of `allocated_`, too
  std::multimap<std::uint64_t, std::uint64_t> in_flight_;  // what copies read and write
};

}  // namespace brigade
