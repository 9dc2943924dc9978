#pragma once

// For graphs that may hang: the program ends, and says which one it was.

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace brigade::conformance {

inline constexpr auto kHangs = std::chrono::seconds(60);  // a run takes less than one

/// Acts once when it lives too long.
class SoftWatchdog {
 public:
  SoftWatchdog(std::chrono::seconds after, std::function<void()> act)
      : thread_([this, after, act = std::move(act)] {
          std::unique_lock lock(mutex_);
          if (!changed_.wait_for(lock, after, [this] { return over_; })) act();
        }) {}
  ~SoftWatchdog() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

/// Ends the program, and says why.
struct HangTimer : SoftWatchdog {
  explicit HangTimer(std::string what)
      : SoftWatchdog(kHangs, [what = std::move(what)] {
          std::fprintf(stderr, "this graph does not come to an end:\n%s\n", what.c_str());
          std::abort();
        }) {}
};

}  // namespace brigade::conformance
