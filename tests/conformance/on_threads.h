#pragma once

// Lets go of what a program holds (batches, slots) in any order, on threads of its own.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace brigade::conformance {

template <class T>
class OnThreads {
 public:
  /// `act` on each before it goes; any number of threads are in it.
  explicit OnThreads(std::uint64_t seed, std::function<void(T&)> act = {}) : act_(std::move(act)) {
    for (std::uint64_t i = 0; i < 2; ++i)
      threads_.emplace_back([this, i, seed] { let_go(2 * seed + i); });
  }
  /// When all are gone.
  ~OnThreads() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  void add(T one) {
    const std::lock_guard lock(mutex_);
    held_.push_back(std::move(one));
  }

 private:
  void let_go(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (;;) {
      std::optional<T> one;
      const bool last = over_;
      {
        const std::lock_guard lock(mutex_);
        if (!held_.empty()) {
          std::swap(held_[random() % held_.size()], held_.back());
          one = std::move(held_.back());
          held_.pop_back();
        }
      }
      if (!one && last) return;
      if (one && act_) act_(*one);
      if (!one || random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  const std::function<void(T&)> act_;
  std::mutex mutex_;
  std::vector<T> held_;
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

}  // namespace brigade::conformance
