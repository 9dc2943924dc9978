#include "pipeline/process/commands/print.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "tests/support/captured.h"

namespace brigade {
namespace {

TEST(Print, ResultsAndMessagesGoTheirWays) {
  const Captured both = captured([] {
    print("result\n");
    print_error("message\n");
    return 0;
  });
  EXPECT_EQ(both.out, "result\n");
  EXPECT_EQ(both.err, "message\n");
}

TEST(Print, AReaderThatHasGoneIsNoError) {
  signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  const int kept = dup(STDOUT_FILENO);
  dup2(ends[1], STDOUT_FILENO);
  print("nobody reads this\n");
  dup2(kept, STDOUT_FILENO);
  close(kept);
  close(ends[1]);
}

}  // namespace
}  // namespace brigade
