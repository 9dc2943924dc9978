#pragma once

// Gives the rings their memory while the workers start, from slot 0 upwards, so that
// the first samples do not wait for the others, and running out of memory is a message,
// not a SIGBUS. Arrays of ragged tensors stay sparse: their bound is far above their
// contents. If no thread can be started, the run continues without: pages are allocated
// when a worker touches them, and if memory runs out, the run reports the worker's
// death. Threads of the supervisor; workers may write to the rings in the meantime.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/memory/shared_segments.h"

namespace brigade {

/// Pages [first, last) of one array, in bytes from the ring's start.
struct PageRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  friend bool operator==(const PageRange&, const PageRange&) = default;
};

/// What is populated of a ring, in order: the same slots of all dense arrays, then the next slots,
/// about `chunk_bytes` at a time.
std::vector<PageRange> fill_order(const PlanRing& ring, std::uint64_t chunk_bytes);

class Prefault {
 public:
  /// Starts. `failed` is called once, from one of the threads, when memory ran out. Everything must
  /// outlive the filler.
  Prefault(const Plan& plan, const SharedSegments& segments,
           std::function<void(std::string)> failed);
  /// Stops early and waits for the threads.
  ~Prefault();

  /// How many bytes have their memory.
  std::uint64_t filled_bytes() const { return filled_.load(); }

 private:
  void run();
  bool fill_ring(StageNumber stage);
  bool fill_cache(StageNumber stage);
  bool fill(StageNumber stage, const PageRange& range, const std::string& what);

  const Plan& plan_;
  const SharedSegments& segments_;
  std::function<void(std::string)> failed_;
  std::atomic<int> next_stage_{0};  // of all rings, then of what caches keep
  std::atomic<bool> over_{false};
  std::atomic<std::uint64_t> filled_{0};
  std::vector<std::thread> threads_;
};

}  // namespace brigade
