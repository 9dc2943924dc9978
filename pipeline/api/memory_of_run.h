#pragma once

// The memory of a run for parts of the library that users of Run do not see: copies to a device.

#include <memory>

#include <brigade/pipeline.h>

namespace brigade {

struct MemoryOfRun {
  /// Null in a forked child. Any thread.
  static std::shared_ptr<const RunMemory> of(const Run& run) { return run.memory(); }
};

}  // namespace brigade
