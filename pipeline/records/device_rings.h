#pragma once

// A replica's access to rings whose tensors are on a device (`memory: device`): its
// device, a stream, and the memory of those rings, mapped from descriptors that the
// supervisor keeps. Headers and all other tensors are in the rings themselves.
//
// Legal call order: map place? (wait)*. One thread.

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "device/device.h"
#include "pipeline/plan/plan.h"
#include "transports/slot_ring.h"

namespace brigade {

/// The device's memory of one ring.
struct DeviceGrant {
  StageNumber stage = 0;  ///< whose output it is
  int fd = -1;
  bool writable = false;
  friend bool operator==(const DeviceGrant&, const DeviceGrant&) = default;
};

/// Of the device's memory for what `stage` writes; whoever has the descriptor has the memory.
Result<OwnedFd> make_device_memory(const PlanStage& stage);

class DeviceRings {
 public:
  /// Waits for what its stream was told, which may be in this memory.
  ~DeviceRings();
  DeviceRings(const DeviceRings&) = delete;
  DeviceRings& operator=(const DeviceRings&) = delete;

  /// For replica 0 of `stage`. Null: nothing was granted. Closes the descriptors.
  static Result<std::unique_ptr<DeviceRings>> map(const Plan& plan, const PlanStage& stage,
                                                  std::span<const DeviceGrant> grants);

  /// Has the arrays of these rings begin where they lie on the device.
  void place(ByStage<SlotRing>& rings) const;

  const std::shared_ptr<Device>& device() const { return device_; }
  DeviceStream stream() const { return stream_.get(); }
  /// Until all is done that the stream was told so far. An error: the device is lost.
  Result<void> wait();

 private:
  explicit DeviceRings(const Plan& plan) : plan_(plan) {}
  Result<void> open(const PlanStage& stage);
  Result<void> map(const DeviceGrant& grant);

  const Plan& plan_;
  std::shared_ptr<Device> device_;
  OwnedStream stream_;
  OwnedEvent event_;
  std::vector<std::pair<StageNumber, SharedDeviceMemory>> rings_;
};

}  // namespace brigade
