#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include <brigade/harness.h>
#include "stages/basic/basic_stages.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using namespace testing_support;

std::unique_ptr<StageHarness> open_delay(ParamTexts params) {
  StageTypes types;
  add_delay(types);
  return StageHarness::open(types.all()[0], {std::move(params), {}, {}}).value();
}

Result<HarnessCall> process(StageHarness& stage, std::uint64_t id) {
  return stage.process({host_tensor<std::uint8_t>("image", {1}, {0})}, {0, 0, id, 0});
}

TEST(DelayTest, SleepsForEveryNthSample) {
  const auto stage = open_delay({{"ms", "20"}});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(process(*stage, 7)->next, Next::emit);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(20));
  // An hour each: the test ends because these do not sleep.
  const auto third = open_delay({{"ms", "3600000"}, {"every", "3"}});
  for (std::uint64_t id : {1, 2, 4, 5, 301}) EXPECT_EQ(process(*third, id)->next, Next::emit);
}

TEST(DelayTest, FailsAtTheSamplesItIsTold) {
  const auto stage = open_delay({{"fail_at", "[9, 4]"}});
  EXPECT_TRUE(process(*stage, 3));
  EXPECT_EQ(process(*stage, 4).error().message, "fails at sample 4, as requested by fail_at");
  EXPECT_FALSE(process(*stage, 9));
}

TEST(DelayDeathTest, CrashesEachTimeAtCrashAt) {
  const auto stage = open_delay({{"crash_at", "[5]"}});
  EXPECT_TRUE(process(*stage, 4));
  for (int i = 0; i < 2; ++i)
    EXPECT_EXIT((void)process(*stage, 5), testing::KilledBySignal(SIGABRT),
                "delay: aborts at sample 5, as requested \\(crash_at\\)");
}

TEST(DelayDeathTest, CrashesOnceAtCrashOnceAtWhicheverProcessMeetsIt) {
  const TemporaryFolder folder;
  const std::string marker = folder.path() / "marker";
  const ParamTexts params = {{"crash_once_at", "[5, 6]"}, {"crash_marker", marker}};
  const auto stage = open_delay(params);
  EXPECT_EXIT((void)process(*stage, 5), testing::KilledBySignal(SIGABRT), "sample 5");
  EXPECT_TRUE(process(*stage, 5));
  const auto restarted = open_delay(params);
  EXPECT_TRUE(process(*restarted, 5));
  EXPECT_EXIT((void)process(*restarted, 6), testing::KilledBySignal(SIGABRT), "sample 6");
  ASSERT_TRUE(restarted->close());
  EXPECT_TRUE(std::filesystem::exists(marker)) << "a marker that the user named is kept";
  std::filesystem::remove(marker);
}

TEST(DelayDeathTest, TheMarkerOfARunIsRemovedAtItsEnd) {
  // Two children of this process, one after the other, like a worker and its replacement.
  const auto run = [] {
    const auto stage = open_delay({{"crash_once_at", "[5]"}});
    (void)process(*stage, 5).value();
    std::_Exit(0);
  };
  const auto finish = [] {
    const auto stage = open_delay({{"crash_once_at", "[5]"}});
    std::_Exit(stage->close() ? 0 : 1);
  };
  EXPECT_EXIT(run(), testing::KilledBySignal(SIGABRT), "crash_once_at");
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(finish(), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(run(), testing::KilledBySignal(SIGABRT), "crash_once_at");
  EXPECT_EXIT(finish(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace brigade
