#pragma once

// Copies batches that a program holds to a device: into the program's memory
// there (such as a torch tensor), on a dedicated stream. A batch stays held until
// the device has read it, even if the program releases it earlier. If the run's
// rings can be pinned, opening this pins them, once for a run and a device.
//
//   open -> (copy, then await on the stream that uses what was copied, or wait)*
//
// Any thread. In a forked child all calls fail, and nothing waits or ends.

#include <memory>
#include <mutex>
#include <span>
#include <string>

#include <brigade/record.h>
#include "device/uploader.h"

namespace brigade {

struct RunMemory;

/// A batch on its way. Where nobody has waited, its end does: memory that is still written may not
/// go.
class BatchUpload {
 public:
  explicit BatchUpload(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  BatchUpload(const BatchUpload&) = delete;
  BatchUpload& operator=(const BatchUpload&) = delete;
  ~BatchUpload();

  /// What `stream` is told from now on waits for it; the calling thread does not.
  Result<void> await(DeviceStream stream);
  /// The calling thread does.
  Result<void> wait();

 private:
  friend class BatchUploads;
  const std::shared_ptr<Device> device_;
  OwnedEvent done_;
  bool awaited_ = false;
};

class BatchUploads {
 public:
  /// Of one tensor, or one sample of it.
  struct Part {
    const std::byte* from;
    std::uint64_t bytes;
    DeviceAddress to;
  };

  /// `run`: null in a forked child. `device`: not null.
  static Result<std::shared_ptr<BatchUploads>> open(std::shared_ptr<const RunMemory> run,
                                                    std::shared_ptr<Device> device, Pin pin);
  BatchUploads(const BatchUploads&) = delete;
  BatchUploads& operator=(const BatchUploads&) = delete;
  ~BatchUploads();

  /// What was pinned and what that took, or why not: one line.
  const std::string& report() const { return uploader_->report(); }
  std::string device_name() const { return device_->name(); }

  /// The copies wait for what `user` was told so far, so that memory may be written which `user`
  /// has let go of. `kept` keeps the batch. After an error nothing is being copied.
  Result<std::unique_ptr<BatchUpload>> copy(std::span<const Part> parts, DeviceStream user,
                                            Lease kept);

 private:
  BatchUploads(std::shared_ptr<const RunMemory> memory, std::shared_ptr<Device> device)
      : memory_(std::move(memory)), device_(std::move(device)) {}

  const std::shared_ptr<const RunMemory> memory_;  // pinned, so it goes last
  const std::shared_ptr<Device> device_;
  std::mutex mutex_;  // of the uploader's copies
  std::unique_ptr<Uploader> uploader_;
};

}  // namespace brigade
