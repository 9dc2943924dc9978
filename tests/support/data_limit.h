#pragma once

// What a process may take of private memory from here on: for a child that ends, as the kernel then
// refuses it more.

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace brigade::testing_support {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kMemorySanitized = true;  // memory comes and goes otherwise
#else
inline constexpr bool kMemorySanitized = false;
#endif

/// As the kernel counts for RLIMIT_DATA.
inline std::uint64_t private_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  for (int field = 0; field < 6; ++field) file >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

inline void allow_private(std::uint64_t more_bytes) {
  malloc_trim(0);  // else malloc has some in hand
  const rlimit limit{private_bytes() + more_bytes, RLIM_INFINITY};
  setrlimit(RLIMIT_DATA, &limit);
}

}  // namespace brigade::testing_support
