#pragma once

// A policy whose sleep is a callback of the test.

#include <atomic>
#include <cstdint>
#include <functional>

#include "transports/fault_points.h"

namespace brigade::support {

struct ScriptedPolicy {
  template <class T>
  using Atomic = std::atomic<T>;

  inline static std::function<void()> on_sleep = [] {};
  inline static std::function<void(std::uint32_t)> on_sleep_expecting = [](std::uint32_t) {};

  inline static std::function<void()> on_barrier = [] {};

  static void point(FaultPoint) {}
  static void sleep(std::atomic<std::uint32_t>&, std::uint32_t expected) {
    on_sleep_expecting(expected);
    on_sleep();
  }
  static void wake(std::atomic<std::uint32_t>&) {}
  static void relax() {}
  static void barrier_everywhere() { on_barrier(); }
  static void keep_order() {}
};

}  // namespace brigade::support
