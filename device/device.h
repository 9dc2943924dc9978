#pragma once

// A device as the rest of Brigade sees it: separate memory, streams that each
// execute their commands in order, and events that mark the progress of a stream.
// Two kinds: a GPU, through NVIDIA's driver (cuda_device.h), and threads of this
// process (host_device.h), which copy late, in any order between streams, fail on
// request, and detect memory that was written while it was still being copied.
//
// Legal call order: memory and streams first, then for each copy
//
//   (copy | compute)* record (passed* | wait)
//
// Memory that these read and write must not change until an event that was recorded
// after them has passed. A later call may return the error of a copy, passed() or
// wait() at the latest. If the device is lost, every later call returns that error.
//
// One process makes memory that several processes map; its descriptor keeps it alive
// even if that process ends. A process that only holds the descriptor needs no device:
//
//   make_shared map_shared (copy | compute)* record (passed* | wait) unmap_shared
//
// Any thread, several at once; one at a time for each stream. An Owned object keeps its
// device, and is valid only in the process that made it (a forked child has no device).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <brigade/result.h>
#include "base/forked.h"
#include "base/owned_fd.h"

namespace brigade {

/// In the device's memory: a CUdeviceptr.
enum class DeviceAddress : std::uint64_t { none = 0 };

inline DeviceAddress operator+(DeviceAddress at, std::uint64_t bytes) {
  return static_cast<DeviceAddress>(static_cast<std::uint64_t>(at) + bytes);
}

/// A CUstream (which a cudaStream_t is). Null: the device's default stream, of the host's device
/// the calling thread itself, which then waits.
using DeviceStream = void*;
/// A CUevent.
using DeviceEvent = void*;

/// What the device does with memory that it is given.
enum class HostAccess : std::uint8_t {
  read_only,  ///< it reads only: also of memory that is mapped so
  read_write
};

/// Something for a device to compute, for each kind of device.
struct DeviceWork {
  /// Launches kernels on a stream of a GPU, whose context is the calling thread's current one.
  std::function<Result<void>(DeviceStream stream)> launch;
  /// Does the same in the host's memory, in the stream's turn: by a thread of the host's device, so
  /// it owns what it needs.
  std::function<void()> twin;
};

class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  /// "cuda:0", "host".
  virtual std::string name() const = 0;
  /// Of the `N` in `cuda:N`; 0 of the host's.
  virtual int index() const = 0;
  /// Whether it is there; after it was lost, why not. It asks the device, without a wait: for who
  /// has an error of somebody who met the loss first, such as a library that computes there.
  virtual Result<void> check() = 0;

  virtual Result<DeviceAddress> allocate(std::uint64_t bytes) = 0;
  virtual void free(DeviceAddress at) = 0;
  /// Memory of the device that any process may map, of at least so many bytes, all zeros or
  /// anything. It goes with the last descriptor and mapping.
  virtual Result<OwnedFd> make_shared(std::uint64_t bytes) = 0;
  /// Maps it, from a descriptor of make_shared() for as many bytes by this device in any process;
  /// the descriptor may be closed then. A store to what is read only is the caller's mistake.
  virtual Result<DeviceAddress> map_shared(int fd, std::uint64_t bytes, HostAccess access) = 0;
  virtual void unmap_shared(DeviceAddress at) = 0;
  /// Memory of this process that the device reads and writes by itself: pinned.
  virtual Result<std::byte*> allocate_pinned(std::uint64_t bytes) = 0;
  virtual void free_pinned(std::byte* at) = 0;
  /// Pins memory that is there, whole pages of it, all of them populated. It locks the driver for
  /// as long: before training, not during it.
  virtual Result<std::byte*> register_host(std::byte* at, std::uint64_t bytes,
                                           HostAccess access) = 0;
  virtual void unregister_host(std::byte* at) = 0;

  virtual Result<DeviceStream> create_stream() = 0;
  virtual void destroy_stream(DeviceStream stream) = 0;
  virtual Result<DeviceEvent> create_event() = 0;
  virtual void destroy_event(DeviceEvent event) = 0;

  /// Returns at once where the memory is pinned or registered; other memory may have been copied
  /// when it returns.
  virtual Result<void> copy_to_device(DeviceAddress to, const std::byte* from, std::uint64_t bytes,
                                      DeviceStream stream) = 0;
  virtual Result<void> copy_to_host(std::byte* to, DeviceAddress from, std::uint64_t bytes,
                                    DeviceStream stream) = 0;

  /// Puts it on `stream`; a GPU's errors may come back from a later call, as those of a copy.
  virtual Result<void> compute(DeviceWork work, DeviceStream stream) = 0;

  /// The event passes when all has been done that `stream` has been told before.
  virtual Result<void> record(DeviceEvent event, DeviceStream stream) = 0;
  /// What `stream` is told from now on waits for what was recorded last; the caller does not.
  virtual Result<void> make_wait(DeviceStream stream, DeviceEvent event) = 0;
  /// Of what was recorded last; true also when nothing was.
  virtual Result<bool> passed(DeviceEvent event) = 0;
  /// The calling thread waits for it.
  virtual Result<void> wait(DeviceEvent event) = 0;

  /// Whether this process was forked from the one that made the device.
  bool in_child() const { return mark_.in_child(); }

 private:
  const ForkMark mark_;
};

/// Something of a device that goes with its owner, except in a forked child, where it is left: a
/// thread of the parent's may hold the device's mutex for ever. Movable.
template <class Handle, void (Device::*kRelease)(Handle)>
class OwnedOfDevice {
 public:
  OwnedOfDevice() = default;
  OwnedOfDevice(std::shared_ptr<Device> device, Handle handle)
      : device_(std::move(device)), handle_(handle) {}
  OwnedOfDevice(OwnedOfDevice&& other) noexcept
      : device_(std::move(other.device_)), handle_(std::exchange(other.handle_, Handle{})) {}
  OwnedOfDevice& operator=(OwnedOfDevice&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~OwnedOfDevice() {
    if (device_ && !device_->in_child()) (device_.get()->*kRelease)(handle_);
  }

  Handle get() const { return handle_; }

 private:
  std::shared_ptr<Device> device_;
  Handle handle_{};
};

using DeviceMemory = OwnedOfDevice<DeviceAddress, &Device::free>;
using SharedDeviceMemory = OwnedOfDevice<DeviceAddress, &Device::unmap_shared>;
using PinnedMemory = OwnedOfDevice<std::byte*, &Device::free_pinned>;
using RegisteredMemory = OwnedOfDevice<std::byte*, &Device::unregister_host>;
using OwnedStream = OwnedOfDevice<DeviceStream, &Device::destroy_stream>;
using OwnedEvent = OwnedOfDevice<DeviceEvent, &Device::destroy_event>;

/// BRIGADE_ASSIGN(const auto memory, own<DeviceMemory>(device, device->allocate(bytes)));
template <class Owned, class Handle>
Result<Owned> own(std::shared_ptr<Device> device, Result<Handle> handle) {
  if (!handle) return handle.error();
  return Owned(std::move(device), *handle);
}

}  // namespace brigade
