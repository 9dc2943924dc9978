#pragma once

// Access to the memory of a run for internal parts of the library: copies to a device.

#include <memory>

#include <brigade/pipeline.h>

namespace brigade {

struct MemoryOfRun {
  /// Null in a forked child. Any thread.
  static std::shared_ptr<const RunMemory> of(const Run& run) { return run.memory(); }
};

}  // namespace brigade
