#include "pipeline/run/supervisor/stop_requests.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>

namespace brigade {
namespace {

bool readable(int fd) {
  pollfd ready{fd, POLLIN, 0};
  return poll(&ready, 1, 0) == 1;
}

TEST(StopRequests, ComeInTheirOrder) {
  auto requests = StopRequests::create(false);
  ASSERT_TRUE(requests.ok());
  EXPECT_FALSE(readable((*requests)->fd()));
  (*requests)->ask(StopRequests::kWakeUp);
  EXPECT_EQ((*requests)->take(), StopRequests::kWakeUp);
  EXPECT_FALSE((*requests)->asked());
  (*requests)->ask(SIGTERM);
  (*requests)->ask(StopRequests::kWakeUp);
  EXPECT_TRUE((*requests)->asked());
  EXPECT_TRUE(readable((*requests)->fd()));
  EXPECT_EQ((*requests)->take(), SIGTERM);
  EXPECT_EQ((*requests)->take(), StopRequests::kWakeUp);
  EXPECT_EQ((*requests)->take(), std::nullopt);
  EXPECT_FALSE(readable((*requests)->fd()));
}

TEST(StopRequests, SignalsBecomeRequestsWhileTheyAreHandled) {
  for (int each : {SIGINT, SIGTERM}) signal(each, SIG_DFL);  // a shell's `&` ignores SIGINT
  {
    auto requests = StopRequests::create(true);
    ASSERT_TRUE(requests.ok());
    EXPECT_FALSE((*requests)->asked());
    raise(SIGINT);
    EXPECT_TRUE((*requests)->asked());
    raise(SIGTERM);
    EXPECT_EQ((*requests)->take(), SIGINT);
    EXPECT_EQ((*requests)->take(), SIGTERM);
  }
  struct sigaction now;
  sigaction(SIGTERM, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
}

TEST(StopRequests, IgnoredSignalsStayIgnored) {
  signal(SIGHUP, SIG_IGN);
  auto requests = StopRequests::create(true);
  ASSERT_TRUE(requests.ok());
  raise(SIGHUP);
  EXPECT_EQ((*requests)->take(), std::nullopt);
  signal(SIGHUP, SIG_DFL);
}

TEST(StopRequests, AFloodOfThemIsNoProblem) {
  auto requests = StopRequests::create(false);
  for (int i = 0; i < 100'000; ++i) (*requests)->ask(SIGINT);
  EXPECT_EQ((*requests)->take(), SIGINT);
}

TEST(StandardDescriptors, AreOpenAfterwards) {
  const int copy = dup(STDIN_FILENO);
  close(STDIN_FILENO);
  open_standard_descriptors();
  char byte = 0;
  EXPECT_EQ(read(STDIN_FILENO, &byte, 1), 0);  // /dev/null
  dup2(copy, STDIN_FILENO);
  close(copy);
}

}  // namespace
}  // namespace brigade
