#pragma once

// The files of shared tensors (`init:`, `save:`), in NumPy's format. A tensor is saved
// by the supervisor and by consumers right before their own checkpoints, one of them at
// a time: the file is never older than a position that was written after it. A saved
// file ends with a checksum and the identity of its run (stages/api/npy_trailer.h).

#include <pthread.h>

#include <cstdint>
#include <string>
#include <string_view>

#include <brigade/result.h>
#include "pipeline/plan/plan.h"
#include "stages/api/npy_trailer.h"
#include "transports/memory_file.h"

namespace brigade {

/// The first page of a tensor's segment.
struct SharedHead {
  std::uint64_t initialised = 0;
  char identity[kIdentityDigits];      ///< ResumePoint::identity; '0': not known
  alignas(64) pthread_mutex_t saving;  ///< robust: whoever saves may be killed meanwhile
};

/// In zeroed memory, before any other process maps it. `identity`: of the run; may be empty.
void begin_shared_head(const Mapping& memory, std::string_view identity);

inline SharedHead& shared_head(const Mapping& memory) {
  return *reinterpret_cast<SharedHead*>(memory.data());
}

/// Of a mapping of a whole segment, as SharedTensors makes it. `guarded`: shared_layout().
std::byte* shared_part(const PlanShared& shared, bool guarded, const Mapping& memory,
                       std::uint64_t number);

/// Fills the tensor from the file of `init:`, of any program. Errors: a file of another type or
/// shape, one that ends too early, and a damaged one that a run has saved.
Result<void> load_shared(const PlanShared& shared, bool guarded, const Mapping& memory,
                         const std::string& file);

/// Fills it from the file of `save:`. Besides, an error: one that is not of the run with this
/// identity. Where that is empty, it is not known.
Result<void> resume_shared(const PlanShared& shared, bool guarded, const Mapping& memory,
                           const std::string& identity, const std::string& checkpoint);

/// Replaces the file of `save:`, unless there is none or nobody has initialised the tensor yet. Any
/// process, any thread.
Result<void> save_shared(const PlanShared& shared, bool guarded, const Mapping& memory);

}  // namespace brigade
