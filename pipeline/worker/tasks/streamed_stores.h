#pragma once

// Stores past the cache (non-temporal ones: _mm_stream_*, what a vectorising library may use for
// large outputs) are not ordered by a release on x86: a reader could see that a task is done before
// all of its slots. Therefore the loop orders them once per task, and stages need not. It costs up
// to 2 ns (docs/decisions/streamed_stores.md). Other processors order them like all stores.

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace brigade {

/// After the stage's calls and before its task is finished.
inline void publish_streamed_stores() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace brigade
