#pragma once

// Batches on a device, each in one of a few rotating buffers, so that one batch is
// copied while the device computes with the earlier ones. A buffer is reused when
// the device has finished all work that was submitted before the next batch arrived.
//
// One thread: bring, then submit the computation with the batch, then bring again.

#include <memory>
#include <span>
#include <vector>

#include <brigade/export.h>
#include <brigade/record.h>
#include "device/device.h"
#include "device/uploader.h"

namespace brigade {

class BRIGADE_API BatchBuffers {
 public:
  struct Part {
    const void* data = nullptr;
    std::uint64_t bytes = 0;
  };

  /// `count` buffers, each for batches of at most `bytes` bytes in `parts` parts.
  static Result<std::unique_ptr<BatchBuffers>> create(std::unique_ptr<Uploader> uploader,
                                                      std::size_t count, std::uint64_t bytes,
                                                      std::size_t parts);

  /// Where the parts of the next batch are, for what `user` is told from now on. `kept` goes when
  /// they have been copied; null: the calling thread waits for that.
  Result<std::vector<DeviceAddress>> bring(std::span<const Part> parts, DeviceStream user,
                                           Lease kept);
  const Uploader& uploader() const { return *uploader_; }

 private:
  struct Buffer {
    DeviceMemory memory;
    OwnedEvent read;  // by the device
  };

  BatchBuffers(std::unique_ptr<Uploader> uploader, std::uint64_t bytes)
      : bytes_(bytes), uploader_(std::move(uploader)) {}

  const std::uint64_t bytes_;  // of a buffer
  std::vector<Buffer> buffers_;
  std::uint64_t brought_ = 0;
  std::unique_ptr<Uploader> uploader_;  // goes first: it waits for the copies
};

}  // namespace brigade
