#include "pipeline/worker/forked_children.h"
#include "pipeline/worker/crash_handler.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "pipeline/run/launch/process_runner.h"

namespace brigade {
namespace {

enum class From { main_thread, other_thread };

[[noreturn]] void sleep_for_ever() {
  for (;;) pause();
}

void fork_and_tell(int fd) {
  const pid_t child = fork();
  if (child == 0) sleep_for_ever();
  if (write(fd, &child, sizeof child) != sizeof child) _exit(1);
}

/// The child of a process like a worker, which has been killed since.
pid_t child_of_the_dead(bool tied, From from) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t worker = fork();
  if (worker == 0) {
    if (tied) end_forked_children_with_this_process();
    if (from == From::main_thread) fork_and_tell(ends[1]);
    if (from == From::other_thread) std::thread([&] { fork_and_tell(ends[1]); }).join();
    sleep_for_ever();
  }
  pid_t child = 0;
  EXPECT_EQ(read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  kill(worker, SIGKILL);
  waitpid(worker, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
  return child;
}

bool ends(pid_t pid) {
  for (int tries = 0; tries < 5000; ++tries) {
    if (condition_of(pid) == ProcessCondition::gone) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

TEST(ForkedChildren, GoWithTheirProcess) {
  EXPECT_TRUE(ends(child_of_the_dead(true, From::main_thread)));
}

TEST(ForkedChildren, ControlTheyAreLeftBehindWhereNobodyTiesThem) {
  const pid_t child = child_of_the_dead(false, From::main_thread);
  EXPECT_EQ(condition_of(child), ProcessCondition::runs);
  kill(child, SIGKILL);
}

// Its thread has ended before the child is looked at.
TEST(ForkedChildren, OfAnotherThreadOutliveThatThread) {
  const pid_t child = child_of_the_dead(true, From::other_thread);
  EXPECT_EQ(condition_of(child), ProcessCondition::runs);
  kill(child, SIGKILL);
}

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
