#pragma once

// A thread that keeps the positions of consumers that save nothing on the disk, since a machine may
// go down at any time. It looks at the marks right before it writes, so the newest position wins
// and a slow disk holds up nobody else. What cannot be written is a warning.

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "base/result.h"
#include "pipeline/plan/plan.h"
#include "pipeline/process/run_lines.h"
#include "transports/layout.h"

namespace brigade {

/// Where the plan does not say how often.
inline constexpr std::chrono::nanoseconds kPositionsEvery = std::chrono::seconds(10);

class PositionsWriter {
 public:
  /// Writes every so often, if the plan has checkpoints. Everything outlives the writer.
  static Result<std::unique_ptr<PositionsWriter>> start(const Plan& plan,
                                                        const Control<SystemPolicy>& control,
                                                        RunLines& lines);
  /// Waits for what is being written.
  ~PositionsWriter();

  /// Once more, and waits for it: after the last replica has ended and has been repaired.
  void finish();

 private:
  enum class Order { go_on, write_once_more, stop };

  PositionsWriter(const Plan& plan, const Control<SystemPolicy>& control, RunLines& lines);
  void run();
  void write();
  void end(Order order);

  const Plan& plan_;
  const Control<SystemPolicy>& control_;
  RunLines& lines_;
  std::mutex mutex_;
  std::condition_variable told_;
  Order order_ = Order::go_on;
  std::thread thread_;
};

}  // namespace brigade
