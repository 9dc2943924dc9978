#include "pipeline/run/launch/wait_to_read.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "base/owned_fd.h"

namespace brigade {
namespace {

std::atomic<int> alarms{0};

/// A pipe, and a signal each millisecond that interrupts this program's waits.
struct WaitToRead : testing::Test {
  WaitToRead() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    one.reset(ends[0]);
    other.reset(ends[1]);
    alarms = 0;
    struct sigaction action = {};
    action.sa_handler = [](int) { ++alarms; };
    EXPECT_EQ(sigaction(SIGALRM, &action, &before), 0);
    constexpr itimerval kEachMs = {{0, 1000}, {0, 1000}};
    EXPECT_EQ(setitimer(ITIMER_REAL, &kEachMs, nullptr), 0);
  }
  ~WaitToRead() override {
    constexpr itimerval kNoMore = {};
    setitimer(ITIMER_REAL, &kNoMore, nullptr);
    sigaction(SIGALRM, &before, nullptr);
  }

  OwnedFd one;
  OwnedFd other;
  struct sigaction before = {};
};

TEST_F(WaitToRead, EndsInTimeAlsoWhereSignalsComeFaster) {
  EXPECT_FALSE(wait_to_read(one.get(), 50));
  EXPECT_GT(alarms, 0);
}

TEST_F(WaitToRead, WhatIsThereOrTheOtherEndThatIsGoneEndIt) {
  EXPECT_EQ(write(other.get(), "x", 1), 1);
  EXPECT_TRUE(wait_to_read(one.get(), -1));
  char byte = 0;
  EXPECT_EQ(read(one.get(), &byte, 1), 1);
  EXPECT_FALSE(wait_to_read(one.get(), 0));
  other.reset();
  EXPECT_TRUE(wait_to_read(one.get(), -1));
}

}  // namespace
}  // namespace brigade
