#include "transports/policy.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

#include <brigade/check.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace brigade {

void SystemPolicy::sleep(std::atomic<std::uint32_t>& word, std::uint32_t expected) {
  // EAGAIN and EINTR mean "look again", which every caller does.
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, nullptr, nullptr, 0);
}

void SystemPolicy::sleep_for(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                             std::int64_t ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const timespec timeout{ns / kSecond, ns % kSecond};
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, &timeout, nullptr, 0);
}

void SystemPolicy::wake(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void SystemPolicy::relax() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  // As long as x86's pause; "yield" is no more than a nop on most cores.
  asm("isb");
#endif
}

bool SystemPolicy::join_barriers() {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

void SystemPolicy::barrier_everywhere() {
  const long result = syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
  // Without it a wake-up may be lost. Only a filter of system calls set up later can refuse it.
  BRIGADE_CHECK(result == 0, result);
}

}  // namespace brigade
