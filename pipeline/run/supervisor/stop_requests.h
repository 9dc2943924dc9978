#pragma once

// Requests to stop a run: signals (SIGINT, SIGTERM, SIGHUP) and calls from other threads,
// in order of arrival, through one descriptor that an event loop can wait on. Signals
// that were ignored when the program started (nohup, background jobs) stay ignored.

#include <atomic>
#include <memory>
#include <optional>

#include <brigade/result.h>
#include "base/owned_fd.h"

namespace brigade {

class StopRequests {
 public:
  /// `handle_signals`: takes the three signals until this object goes; one object at a time may.
  static Result<std::unique_ptr<StopRequests>> create(bool handle_signals);
  ~StopRequests();

  /// Readable when take() has something.
  int fd() const { return read_fd_.get(); }
  /// Whether anybody has asked for a stop; one that nobody has taken yet is there to be taken.
  bool asked() const;
  /// The next request's signal, or kWakeUp; nothing when there is none.
  std::optional<int> take();
  /// Any thread. `signal`: as if it had arrived; kWakeUp only makes fd() readable.
  void ask(int signal);
  static constexpr int kWakeUp = 0;

 private:
  StopRequests() = default;
  OwnedFd read_fd_;
  OwnedFd write_fd_;
  bool handles_signals_ = false;
  std::atomic<bool> asked_{false};
};

/// Standard input, output and error are open: to /dev/null where the caller closed them, so that no
/// descriptor of ours takes their place.
void open_standard_descriptors();

}  // namespace brigade
