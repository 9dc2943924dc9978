#pragma once

// Releases memory when a device has finished reading it: a thread checks whether events have passed
// (a callback of the driver would hold up its stream), and releases what each event kept. If the
// device is lost, it releases everything, because nothing reads any more, and check() returns why.
//
// Any thread; after() one at a time for each stream. Its destructor waits for all events: memory
// that may still be read cannot be released. A line reports a device that does not answer.

#include <chrono>
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

/// Says once, as a warning, that a device has not answered for so long.
class BRIGADE_API SilenceWarning {
 public:
  static constexpr std::chrono::seconds kAfter{10};
  explicit SilenceWarning(std::chrono::milliseconds after = kAfter) : after_(after) {}

  /// In each round of a wait for it.
  void look(const Device& device);

 private:
  const std::chrono::milliseconds after_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool said_ = false;
};

class BRIGADE_API Completions {
 public:
  /// `silence`: after which its end says that it waits.
  static Result<std::unique_ptr<Completions>> create(
      std::shared_ptr<Device> device, std::chrono::milliseconds silence = SilenceWarning::kAfter);
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;
  ~Completions();

  /// Drops `kept`, on the thread, when `stream` has done all that it was told before. Where the
  /// device makes no more events, the caller waits for that instead.
  Result<void> after(DeviceStream stream, std::shared_ptr<const void> kept);
  /// An error since: of the device, which is lost.
  Result<void> check() const;

 private:
  struct Kept {
    OwnedEvent event;
    std::shared_ptr<const void> object;
  };

  Completions(std::shared_ptr<Device> device, std::chrono::milliseconds silence)
      : device_(std::move(device)), silence_(silence) {}
  Result<OwnedEvent> take_event();
  Result<void> wait_for(DeviceStream stream);
  void run();

  const std::shared_ptr<Device> device_;
  const std::chrono::milliseconds silence_;
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable told_;
  std::vector<Kept> new_;
  std::vector<OwnedEvent> free_events_;
  std::mutex spare_mutex_;
  OwnedEvent spare_;  // for where the device makes no more
  std::optional<Error> error_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace brigade
