#pragma once

// A thread that writes lines to a descriptor that may block: a terminal
// stopped by Ctrl-S, a paused `less`, a file on a server that does not
// answer. Callers never wait for it: lines wait in a queue of at most
// kLinesWaitingBytesMax, lines that do not fit are dropped, and one
// line reports their number. Only the newest progress line is kept.
//
// Any thread; all lines are written in the order of the calls.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <brigade/result.h>
#include "base/owned_fd.h"
#include "pipeline/report/run_output.h"

namespace brigade {

/// Of one writer: text and bookkeeping. share_of() divides it.
inline constexpr std::size_t kLinesWaitingBytesMax = 4 << 20;

/// How long flush() waits for a descriptor that takes nothing at all.
inline constexpr std::chrono::milliseconds kFlushPatience{1000};

class LineWriter {
 public:
  using Rank = OutputRank;

  struct Target {
    OwnedFd fd;
    /// On a terminal: progress is one line that is written over by what comes next.
    bool live = false;
    /// The line, with its end, for so many that were dropped or could not be written. Called by the
    /// thread.
    std::function<std::string(std::uint64_t lines)> lost;
  };
  static Result<std::unique_ptr<LineWriter>> start(Target target);

  /// Leaves the cursor below a progress line. Waits as flush() does; a thread that is stuck in a
  /// call of the kernel then is left to itself.
  ~LineWriter();

  /// `text`: with its line end.
  void line(Rank rank, std::string text);
  /// Without a line end. Takes the place of a progress line that has not been written yet.
  void progress(std::string text);

  /// Until all that came before is written. False: for kFlushPatience nothing was, or nothing has
  /// been since a call that said so.
  bool flush();

  /// Why writing has begun to fail, as errno; 0: it has not, or that was said before.
  int take_failure();

 private:
  struct State;
  explicit LineWriter(std::shared_ptr<State> state);

  const std::shared_ptr<State> state_;  // the thread's, too: it may be left to itself
};

}  // namespace brigade
