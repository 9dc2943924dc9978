#pragma once

// Messages of the program's threads to the supervisor about the program's own stages: an output
// has passed all its batches, it was closed, it waits for a batch that the program holds, the
// program's loop cannot continue, or an input must be checked at a later time. Any thread, also
// after the run has ended, without effect. Also the calls to the program while they wait.

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <brigade/event.h>
#include <brigade/result.h>
#include "base/forked.h"
#include "base/owned_fd.h"
#include "pipeline/application/interruptible_sleep.h"

namespace brigade {

/// A wait for held batches or slots is reported only after this time: short waits are normal.
inline constexpr std::int64_t kHeldToldAfterNs = 100'000'000;
/// "`hold_timeout: 1s`", for messages about such waits.
std::string hold_timeout_text(std::int64_t ns);

class ProgramEnds {
 public:
  static Result<std::shared_ptr<ProgramEnds>> create(Interrupted interrupted = {});

  const Interrupted& interrupted() const { return interrupted_; }

  /// Readable when take_done() has something, or wake() was called.
  int fd() const { return event_.get(); }
  void wake();
  /// Readable when it is time for what an input has asked for.
  int timer_fd() const { return timer_.get(); }
  /// Not later than `ns`, on the clock of monotonic_ns(), until take_timer().
  void wake_at(std::int64_t ns);
  void take_timer();
  /// By number in the graph, in order.
  std::vector<int> take_done();
  void done(int replica);

  struct Listener {
    std::function<void(std::string)> failed;  ///< ends the run, for this reason
    /// Nobody reads any more of what is still being made: ends the run.
    std::function<void(bool at_once)> unread;
    std::function<void(const Event&)> told;  ///< what users of the run are to see
  };
  /// Until it is given another one, and not in a forked child. `readers`: outputs, and whoever else
  /// reads.
  void listen(Listener listener, int readers);
  void fail(std::string message);
  void tell(const Event& event);

  enum class Closing {
    at_its_end,   ///< all has been read
    before,       ///< what is left is drained
    before_held,  ///< likewise, while the program holds batches: it may not drain
  };
  /// Once for each output.
  void closed(Closing how);

 private:
  explicit ProgramEnds(Interrupted interrupted) : interrupted_(std::move(interrupted)) {}

  const ForkMark mark_;
  const Interrupted interrupted_;
  OwnedFd event_;
  OwnedFd timer_;
  std::mutex mutex_;
  std::int64_t wake_at_ns_ = 0;  // 0: not asked
  std::vector<int> done_;
  Listener listener_;
  int readers_ = 0;
  bool unread_ = false;  // of an output that was closed
};

}  // namespace brigade
