#include "pipeline/memory/private_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace brigade {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// As the kernel counts for RLIMIT_DATA, and the stack; 0: it does not say.
std::uint64_t private_bytes_now() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  for (int field = 0; field < 6; ++field) file >> pages;
  return file ? pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace

void limit_private_memory(std::uint64_t bytes) {
  const std::uint64_t now = private_bytes_now();
  rlimit limit{};
  if (kSanitized || now == 0 || getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, now + bytes + kPrivateRoomBytes);
  setrlimit(RLIMIT_DATA, &limit);
}

}  // namespace brigade
