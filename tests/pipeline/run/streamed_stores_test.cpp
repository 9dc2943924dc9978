#include "pipeline/run/streamed_stores.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>

#if defined(__x86_64__)
#include <emmintrin.h>

namespace brigade {
namespace {

constexpr int kLines = 64;
constexpr int kHandOffs = 2000;
constexpr int kTriesOfTheControl = 50;

struct alignas(64) CacheLine {
  long long word = 0;
};

/// A row of lines goes from one thread to another, stored past the cache and published by a
/// release; how often the other one saw an old line.
int torn_rows(void (*publish)()) {
  CacheLine row[kLines];
  std::atomic<int> given{0};
  std::atomic<int> taken{0};
  int torn = 0;
  std::thread reader([&] {
    for (int n = 1; n <= kHandOffs; ++n) {
      while (given.load(std::memory_order_acquire) < n) std::this_thread::yield();
      bool whole = true;
      for (CacheLine& line : row)
        whole = whole && *static_cast<volatile long long*>(&line.word) == n;
      torn += whole ? 0 : 1;
      taken.store(n, std::memory_order_release);
    }
  });
  for (int n = 1; n <= kHandOffs; ++n) {
    for (CacheLine& line : row) _mm_stream_si64(&line.word, n);
    publish();
    given.store(n, std::memory_order_release);
    while (taken.load(std::memory_order_acquire) < n) std::this_thread::yield();
  }
  reader.join();
  return torn;
}

TEST(StreamedStores, AreWholeOnceATaskIsFinished) {
  EXPECT_EQ(torn_rows(publish_streamed_stores), 0);
}

TEST(StreamedStores, ControlWithoutTheFenceTheyAreSeenTorn) {
  for (int i = 0; i < kTriesOfTheControl; ++i)
    if (torn_rows([] {}) > 0) return;
  GTEST_SKIP() << "two threads have not run at the same time";  // on one core nothing is torn
}

}  // namespace
}  // namespace brigade
#endif
