#pragma once

// For graphs that may hang: the program ends, and says which one it was.

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace brigade::conformance {

inline constexpr auto kHangs = std::chrono::seconds(60);  // a run takes less than one

/// Ends the program when it lives too long.
class HangTimer {
 public:
  explicit HangTimer(std::string what) : thread_([this, what = std::move(what)] { watch(what); }) {}
  ~HangTimer() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  void watch(const std::string& what) {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, kHangs, [this] { return over_; })) return;
    std::fprintf(stderr, "this graph does not come to an end:\n%s\n", what.c_str());
    std::abort();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace brigade::conformance
