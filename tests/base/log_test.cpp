#include "base/log.h"

#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace brigade {
namespace {

class Log : public testing::Test {
 protected:
  void TearDown() override { set_log_level(LogLevel::info); }
};

TEST_F(Log, LinesCarryThePrefixOfTheirLevel) {
  set_log_level(LogLevel::debug);
  testing::internal::CaptureStderr();
  log_debug("spin ", 3);
  log_info("epoch ", 1);
  log_warning("few cores");
  log_error("stage ", quote("train"), " died");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "brigade: debug: spin 3\n"
            "brigade: epoch 1\n"
            "brigade: warning: few cores\n"
            "brigade: error: stage \"train\" died\n");
}

TEST_F(Log, AMessageIsOneLineWhateverIsInIt) {
  testing::internal::CaptureStderr();
  log_info("a\nbrigade: error: forged\x1b[2J");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "brigade: a\\nbrigade: error: forged\\x1b[2J\n");
}

TEST_F(Log, LinesBelowTheLevelAreDropped) {
  testing::internal::CaptureStderr();
  log_debug("not shown at first");
  set_log_level(LogLevel::error);
  log_warning("not shown either");
  log_error("shown");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "brigade: error: shown\n");
}

TEST_F(Log, LinesOfSeveralThreadsDoNotMix) {
  constexpr int kThreads = 4;
  constexpr int kLines = 200;
  testing::internal::CaptureStderr();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([i] {
        for (int line = 0; line < kLines; ++line)
          log_info(std::string(40, static_cast<char>('a' + i)));
      });
  }
  const std::string captured = testing::internal::GetCapturedStderr();
  std::size_t lines = 0;
  for (std::string_view line : split(strip_suffix(captured, "\n").value_or(""), '\n')) {
    const auto message = strip_prefix(line, "brigade: ");
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
        std::_Exit(seen == std::vector<std::string>{"2 few cores"} ? 7 : 1);
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
