#pragma once

// The files of shared tensors (`init:`, `save:`), in NumPy's format. A tensor is saved by the
// supervisor and by consumers right before their own checkpoints, one of them at a time: what lies
// in the file is never older than a position that was written after it.

#include <pthread.h>

#include <cstdint>
#include <string>

#include <brigade/result.h>
#include "pipeline/plan/plan.h"
#include "transports/memory_file.h"

namespace brigade {

/// The first page of a tensor's segment.
struct SharedHead {
  std::uint64_t initialised = 0;
  alignas(64) pthread_mutex_t saving;  ///< robust: whoever saves may be killed meanwhile
};

/// In zeroed memory, before any other process maps it.
void begin_shared_head(const Mapping& memory);

inline SharedHead& shared_head(const Mapping& memory) {
  return *reinterpret_cast<SharedHead*>(memory.data());
}

/// Of a mapping of a whole segment, as SharedTensors makes it. `guarded`: shared_layout().
std::byte* shared_part(const PlanShared& shared, bool guarded, const Mapping& memory,
                       std::uint64_t number);

/// Fills the tensor. Errors: a file of another type or shape, or that ends too early.
Result<void> load_shared(const PlanShared& shared, bool guarded, const Mapping& memory,
                         const std::string& file);

/// Replaces the file of `save:`, unless there is none or nobody has initialised the tensor yet. Any
/// process, any thread.
Result<void> save_shared(const PlanShared& shared, bool guarded, const Mapping& memory);

}  // namespace brigade
