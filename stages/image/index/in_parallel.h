#pragma once

// For open() only, which mostly waits for a disk: calls work(0) ...
// work(count - 1) on a few threads, each once, and returns when all
// are done. The calls must not throw and must not share mutable data.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace brigade {

inline constexpr std::size_t kScanThreadsMax = 8;

template <class Work>
void in_parallel(std::size_t count, Work work) {
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    for (std::size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) work(i);
  };
  std::vector<std::thread> others;
  try {
    for (std::size_t t = 1; t < std::min(count, kScanThreadsMax); ++t) others.emplace_back(run);
  } catch (const std::system_error&) {  // a limit on threads: those that are there do it
  }
  run();
  for (std::thread& other : others) other.join();
}

}  // namespace brigade
