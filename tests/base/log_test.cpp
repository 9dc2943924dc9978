#include "base/log.h"

#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace brigade {
namespace {

TEST(Log, LinesCarryThePrefixOfTheirLevel) {
  testing::internal::CaptureStderr();
  log(LogLevel::info, "epoch ", 1);
  log_warning("few cores");
  log_error("stage ", quote("train"), " died");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "brigade: epoch 1\n"
            "brigade: warning: few cores\n"
            "brigade: error: stage \"train\" died\n");
}

TEST(Log, AMessageIsOneLineWhateverIsInIt) {
  testing::internal::CaptureStderr();
  log_error("a\nbrigade: error: forged\x1b[2J");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "brigade: error: a\\nbrigade: error: forged\\x1b[2J\n");
}

TEST(Log, LinesOfSeveralThreadsDoNotMix) {
  constexpr int kThreads = 4;
  constexpr int kLines = 200;
  testing::internal::CaptureStderr();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([i] {
        for (int line = 0; line < kLines; ++line)
          log_error(std::string(40, static_cast<char>('a' + i)));
      });
  }
  const std::string captured = testing::internal::GetCapturedStderr();
  std::size_t lines = 0;
  for (std::string_view line : split(strip_suffix(captured, "\n").value_or(""), '\n')) {
    const auto message = strip_prefix(line, "brigade: error: ");
    ASSERT_TRUE(message.has_value()) << line;
    ASSERT_EQ(*message, std::string(40, message->at(0)));
    ++lines;
  }
  EXPECT_EQ(lines, std::size_t{kThreads * kLines});
}

std::mutex seen_mutex;
std::vector<std::string> seen;

void remember(LogLevel level, std::string_view message) {
  const std::lock_guard lock(seen_mutex);
  seen.push_back(concat(static_cast<int>(level), ' ', message));
}

// In a child process: the sink can be set only once in each.
TEST(LogDeathTest, TheSinkIsReplacedOnceAndGetsTheBareMessage) {
  EXPECT_EXIT(
      {
        set_log_sink(&remember);
        log_warning("few ", "cores");
        std::_Exit(seen == std::vector<std::string>{"1 few cores"} ? 7 : 1);
      },
      testing::ExitedWithCode(7), "");
  EXPECT_DEATH(
      {
        set_log_sink(&remember);
        set_log_sink(&remember);
      },
      "set_log_sink called twice");
}

}  // namespace
}  // namespace brigade
