#pragma once

// Selects the variant of a kernel for the
// instruction set of this processor. Any thread.

#include <cstddef>
#include <span>

namespace brigade {

/// Of `all`, whose first are plain C++, and whose others need AVX2.
template <class Kernels, std::size_t kCount>
std::span<const Kernels> kernels_of_this_processor(const Kernels (&all)[kCount]) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return all;
#endif
  return std::span<const Kernels>(all).first(1);
}

}  // namespace brigade
