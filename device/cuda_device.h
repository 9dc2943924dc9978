#pragma once

// A GPU, through NVIDIA's driver, in the primary context of its device, which
// LibTorch and all users of the CUDA runtime share, so that they can use its
// memory, streams and events. A call does not change a thread's current device.
//
// A fault of the device (an Xid in the kernel's log) loses it for this
// process: every later call returns that error, and the process has to end.

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <brigade/export.h>
#include "device/cuda_driver.h"
#include "device/device.h"

namespace brigade {

class BRIGADE_API CudaDevice final : public Device {
 public:
  /// `index`: of the N in `cuda:N`.
  static Result<std::shared_ptr<CudaDevice>> open(std::shared_ptr<const CudaDriver> driver,
                                                  int index);
  ~CudaDevice() override;

  std::string name() const override;
  int index() const override { return index_; }
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

 private:
  class Current;

  CudaDevice(std::shared_ptr<const CudaDriver> driver, int index)
      : driver_(std::move(driver)), index_(index) {}
  const CudaCalls& calls() const { return driver_->calls(); }
  template <class Call>
  CudaStatus call(Call&& call);
  Result<void> settle(CudaStatus status, const char* what);
  Error cannot_begin(CudaStatus status) const;
  Error no_memory(std::uint64_t bytes);
  CudaMemory memory_kind() const;
  Result<std::uint64_t> shared_bytes(std::uint64_t bytes);
  Result<void> give_access(std::uint64_t at, std::uint64_t bytes, HostAccess access);

  const std::shared_ptr<const CudaDriver> driver_;
  const int index_;
  int device_ = 0;                                 // a CUdevice
  void* context_ = nullptr;                        // null: there is none to go back
  std::mutex mutex_;                               // of what follows
  std::string lost_;                               // why
  std::map<std::uint64_t, std::uint64_t> mapped_;  // bytes of shared memory, by address
};

}  // namespace brigade
