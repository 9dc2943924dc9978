#include "pipeline/worker/crash_handler.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <csignal>

namespace brigade {
namespace {

[[noreturn]] void crash(int signal) {
  install_crash_handler();
  raise(signal);
  _exit(0);
}

// A sanitizer has handlers of its own, which stay.
bool others_handle(int signal) {
  struct sigaction now {};
  sigaction(signal, nullptr, &now);
  return now.sa_handler != SIG_DFL;
}

TEST(CrashHandlerDeathTest, ShowsABacktraceAndEndsByTheSignal) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS}) {
    if (others_handle(signal)) continue;
    EXPECT_EXIT(crash(signal), testing::KilledBySignal(signal), "backtrace: .*\n.*backtrace: ");
  }
}

TEST(CrashHandlerDeathTest, OtherSignalsAreAsTheyWere) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(crash(SIGTERM), testing::KilledBySignal(SIGTERM), "^$");
}

}  // namespace
}  // namespace brigade
