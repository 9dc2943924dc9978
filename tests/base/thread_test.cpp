#include "base/thread.h"
#include "base/clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "base/io.h"

namespace brigade {
namespace {

TEST(StartThread, Runs) {
  bool ran = false;
  auto thread = start_thread([&] { ran = true; });
  ASSERT_TRUE(thread.ok());
  thread->join();
  EXPECT_TRUE(ran);
}

TEST(StartThread, TakesNoSignalsOfTheProcess) {
  sigset_t before, after, there;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  auto thread = start_thread([&] { pthread_sigmask(SIG_SETMASK, nullptr, &there); });
  ASSERT_TRUE(thread.ok());
  thread->join();
  for (const int number : {SIGINT, SIGTERM, SIGCHLD, SIGALRM, SIGUSR1, SIGPIPE, SIGWINCH})
    EXPECT_EQ(sigismember(&there, number), 1) << number;
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGPROF})
    EXPECT_EQ(sigismember(&there, number), 0) << number;
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int number = 1; number < SIGRTMIN; ++number)
    EXPECT_EQ(sigismember(&after, number), sigismember(&before, number)) << number;
}

TEST(StartThreadDeathTest, SaysWhatIsLacking) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer ends the program then";
#endif
  const auto start = [] {
    const rlimit none{1 << 20, 1 << 20};
    setrlimit(RLIMIT_AS, &none);    // no room for another stack
    for (int i = 0; i < 64; ++i) {  // some are left from threads that have ended
      auto thread = start_thread([] { pause(); });
      if (thread) {
        thread->detach();
        continue;
      }
      write_all(STDERR_FILENO, thread.error().message);
      _exit(0);
    }
    _exit(1);
  };
  EXPECT_EXIT(start(), testing::ExitedWithCode(0), "cannot start a thread: .*; raise the limit on");
}

TEST(SystemClock, NeverGoesBackAndDoesMove) {
  const SystemClock clock;
  const std::int64_t start = clock.now_ns();
  std::int64_t last = start;
  while (last == start) {
    const std::int64_t now = clock.now_ns();
    ASSERT_GE(now, last);
    last = now;
  }
  EXPECT_GE(monotonic_ns(), last);
}

}  // namespace
}  // namespace brigade
