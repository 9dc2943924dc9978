#pragma once

// Gives the pools their memory while the workers start, from row 0 upwards, so that the first
// samples wait for nothing they do not touch, and running out of memory is a message and not a
// SIGBUS. Arrays of ragged tensors stay sparse: their bound is far above what they hold.
// Threads of the supervisor; the pools may be written to meanwhile.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/process/segments.h"

namespace brigade {

/// Pages [first, last) of one array, in bytes from the pool's start.
struct PageRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  friend bool operator==(const PageRange&, const PageRange&) = default;
};

/// What is populated of a pool, in order: the same rows of all dense arrays, then the next rows,
/// about `chunk_bytes` at a time.
std::vector<PageRange> fill_order(const PlanPool& pool, std::uint64_t chunk_bytes);

class PoolFiller {
 public:
  /// Starts. `failed` is called once, from one of the threads, when memory ran out. Everything must
  /// outlive the filler.
  PoolFiller(const Plan& plan, const Segments& segments, std::function<void(std::string)> failed);
  /// Stops early and waits for the threads.
  ~PoolFiller();

  /// How many bytes have their memory.
  std::uint64_t filled_bytes() const { return filled_.load(); }

 private:
  void run();
  bool fill_pool(int stage);
  bool fill_cache(int stage);
  bool fill(int stage, const PageRange& range, const std::string& what);

  const Plan& plan_;
  const Segments& segments_;
  std::function<void(std::string)> failed_;
  std::atomic<int> next_stage_{0};  // of all pools, then of what caches keep
  std::atomic<bool> over_{false};
  std::atomic<std::uint64_t> filled_{0};
  std::vector<std::thread> threads_;
};

}  // namespace brigade
