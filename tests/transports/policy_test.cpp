#include "transports/policy.h"

#include <gtest/gtest.h>
#include <time.h>

#include <thread>

namespace brigade {
namespace {

TEST(Futex, DoesNotSleepWhenTheWordHasChanged) {
  std::atomic<std::uint32_t> word{7};
  SystemPolicy::sleep(word, 6);  // would hang
}

TEST(Futex, WakeEndsASleep) {
  std::atomic<std::uint32_t> word{0};
  std::atomic<bool> awake{false};
  std::thread sleeper([&] {
    while (word.load() == 0) SystemPolicy::sleep(word, 0);
    awake = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(awake);
  word = 1;
  SystemPolicy::wake(word);
  sleeper.join();
  EXPECT_TRUE(awake);
}

TEST(Futex, ASleeperUsesNoCpu) {
  std::atomic<std::uint32_t> word{0};
  timespec used{};
  std::thread sleeper([&] {
    while (word.load() == 0) SystemPolicy::sleep(word, 0);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  word = 1;
  SystemPolicy::wake(word);
  sleeper.join();
  EXPECT_EQ(used.tv_sec, 0);
  EXPECT_LT(used.tv_nsec, 100'000'000);
}

TEST(Barriers, ReachAThreadThatRunsOnceItsProcessHasJoined) {
  if (!SystemPolicy::join_barriers()) GTEST_SKIP() << "this kernel has no membarrier";
  EXPECT_TRUE(SystemPolicy::join_barriers());  // once is enough, twice does no harm
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) SystemPolicy::relax();
  });
  SystemPolicy::barrier_everywhere();  // aborts where it is refused
  stop = true;
  busy.join();
}

}  // namespace
}  // namespace brigade
