#pragma once

// Copies batches from their slots to a device, on a separate stream, so that the device
// can compute in the meantime. The device reads pinned slots directly; other memory
// (arrays of ragged tensors, samples gathered around empty slots) is copied through two
// small pinned buffers; if nothing can be pinned, all copies are from ordinary memory.
//
// One thread: ((begin | begin_behind) copy* (finish wait? | finish_later))*.

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <brigade/export.h>
#include <brigade/record.h>
#include <brigade/stage.h>
#include "device/completions.h"
#include "device/device.h"
#include "device/pinned_regions.h"

namespace brigade {

class BRIGADE_API Uploader {
 public:
  /// Pins `memory`, as `pin` says.
  static Result<std::unique_ptr<Uploader>> create(std::shared_ptr<Device> device, Pin pin,
                                                  std::span<const InputMemory> memory);

  /// What was pinned and what that took, or why not; empty: nothing was to be. One line.
  const std::string& report() const { return report_; }

  /// What is copied from now on waits for what `user` was told so far: it may still read the memory
  /// that is written anew.
  Result<void> begin(DeviceStream user);
  /// It waits for this event alone, behind which nobody reads that memory.
  Result<void> begin_behind(DeviceEvent read);
  Result<void> copy(DeviceAddress to, const std::byte* from, std::uint64_t bytes);
  /// `user` waits for these copies before what it is told next; the calling thread does not.
  /// `kept` goes when they are done.
  Result<void> finish(DeviceStream user, Lease kept);
  /// The calling thread waits for what was finished last.
  Result<void> wait() { return device_->wait(event_.get()); }
  /// Likewise, where `user` is to wait later, or somebody else: for `done`.
  Result<void> finish_later(DeviceEvent done, Lease kept);
  /// Whether the device is there; after it was lost, why not.
  Result<void> check() const { return completions_->check(); }

  Device& device() { return *device_; }
  const std::shared_ptr<Device>& shared_device() const { return device_; }

 private:
  struct Buffer {
    PinnedMemory memory;
    OwnedEvent read;  // by the device
  };

  explicit Uploader(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  Result<void> prepare(Pin pin, std::span<const InputMemory> memory);
  Result<void> pin_all(std::span<const InputMemory> memory);
  Result<void> copy_buffered(DeviceAddress to, const std::byte* from, std::uint64_t bytes);

  const std::shared_ptr<Device> device_;
  OwnedStream stream_;
  OwnedEvent event_;
  std::optional<PinnedRegions> pinned_;
  std::array<Buffer, 2> buffers_;
  bool buffered_ = false;
  std::size_t next_buffer_ = 0;
  std::string report_;
  std::unique_ptr<Completions> completions_;  // goes first: it waits for the copies
};

}  // namespace brigade
