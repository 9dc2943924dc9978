#include "pipeline/memory/private_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <new>
#include <vector>

namespace brigade {
namespace {

constexpr std::uint64_t kBytes = std::uint64_t{64} << 20;

/// Ends with 0 where the memory is there, with 1 where malloc says that it is not.
[[noreturn]] void take(std::uint64_t bytes) {
  try {
    const std::vector<char> memory(bytes);
    std::exit(memory[bytes / 2]);
  } catch (const std::bad_alloc&) {
    std::exit(1);
  }
}

TEST(PrivateMemoryTest, WhatAStageHasStatedIsThereAndMoreIsNot) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers have terabytes mapped";
#endif
  EXPECT_EXIT((limit_private_memory(kBytes), take(kBytes)), testing::ExitedWithCode(0), "");
  EXPECT_EXIT((limit_private_memory(kBytes), take(2 * kBytes + kPrivateRoomBytes)),
              testing::ExitedWithCode(1), "");
  EXPECT_EXIT(take(2 * kBytes + kPrivateRoomBytes), testing::ExitedWithCode(0), "");
}

TEST(PrivateMemoryTest, ATighterLimitStays) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers have terabytes mapped";
#endif
  const auto code = [](std::uint64_t before) {
    rlimit limit{before, RLIM_INFINITY};
    setrlimit(RLIMIT_DATA, &limit);
    limit_private_memory(kBytes);
    getrlimit(RLIMIT_DATA, &limit);
    std::exit(limit.rlim_cur == before ? 2 : 3);
  };
  EXPECT_EXIT(code(kPrivateRoomBytes), testing::ExitedWithCode(2), "");
}

}  // namespace
}  // namespace brigade
