#pragma once

// Lets go of what a device still reads when it has read it: a thread looks whether events have
// passed (a callback of the driver would hold up its stream), and drops what was kept for each.
// Where the device is lost, it drops all: nobody reads any more, and check() says why.
//
// Any thread; after() one at a time for each stream. Its end waits for all that was told.

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <brigade/export.h>
#include "device/device.h"

namespace brigade {

class BRIGADE_API Completions {
 public:
  static Result<std::unique_ptr<Completions>> create(std::shared_ptr<Device> device);
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;
  ~Completions();

  /// Drops `kept`, on the thread, when `stream` has done all that it was told before.
  Result<void> after(DeviceStream stream, std::shared_ptr<const void> kept);
  /// An error since: of the device, which is lost.
  Result<void> check() const;

 private:
  struct Kept {
    OwnedEvent event;
    std::shared_ptr<const void> object;
  };

  explicit Completions(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  Result<OwnedEvent> take_event();
  void run();

  const std::shared_ptr<Device> device_;
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable told_;
  std::vector<Kept> new_;
  std::vector<OwnedEvent> free_events_;
  std::optional<Error> error_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace brigade
