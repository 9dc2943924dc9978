#include "transports/fault_points.h"
#include "transports/policy.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <set>
#include <string>
#include <thread>

namespace brigade {
namespace {

TEST(FaultPoint, EveryPointHasANameOfItsOwnThatParsesBack) {
  std::set<std::string_view> names;
  for (int i = 0; i < static_cast<int>(FaultPoint::count_); ++i) {
    const auto point = static_cast<FaultPoint>(i);
    EXPECT_FALSE(fault_point_name(point).empty());
    EXPECT_TRUE(names.insert(fault_point_name(point)).second) << fault_point_name(point);
    EXPECT_EQ(parse_fault_point(fault_point_name(point)), point);
  }
  EXPECT_EQ(parse_fault_point("claim.never"), std::nullopt);
}

TEST(ArmFault, RefusesMalformedText) {
  for (const char* text :
       {"", "claim.start", "claim.start:1", "claim.start::kill", "claim.start:0:kill",
        "claim.start:-1:kill", "claim.start:2x:kill", "claim.start:2:", "claim.start:2:dance",
        "claim.start:+:stop", "claim.start:2++:stop", "claim.never:2:kill", "::"}) {
    EXPECT_FALSE(arm_fault(text)) << text;
  }
  EXPECT_FALSE(detail::fault_armed);
  fault_point(FaultPoint::claim_start);  // nothing happens
}

TEST(ArmFaultDeathTest, KillsAtTheNamedPassageOfThePoint) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto pass = [](int times) {
    if (!arm_fault("finish.after_done:3:kill")) _exit(9);
    for (int i = 0; i < times; ++i) {
      fault_point(FaultPoint::finish_after_done);
      fault_point(FaultPoint::finish_start);
    }
    _exit(0);
  };
  EXPECT_EXIT(pass(2), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(pass(3), testing::KilledBySignal(SIGKILL), "");
}

/// At which passages of a point a process of ten is late.
std::set<int> late_at(const char* fault) {
  std::set<int> late;
  for (int tries = 0; tries < 40; ++tries) {  // a delay may be none to speak of
    EXPECT_TRUE(arm_fault(fault));
    for (int passage = 1; passage <= 10; ++passage) {
      const auto before = std::chrono::steady_clock::now();
      fault_point(FaultPoint::work_start);
      fault_point(FaultPoint::claim_start);
      if (std::chrono::steady_clock::now() - before > std::chrono::microseconds(50))
        late.insert(passage);
    }
    disarm_fault();
  }
  return late;
}

TEST(ArmFault, DelaysOnceOrAgainAndAgain) {
  EXPECT_TRUE(late_at("work.start:3:delay").contains(3));
  for (const int passage : {3, 6, 9}) EXPECT_TRUE(late_at("work.start:3+:delay").contains(passage));
}

TEST(ArmFault, StopsAgainAndAgainUntilSomebodyLetsItGoOn) {
  const pid_t child = fork();
  if (child == 0) {
    if (!arm_fault("work.start:2+:stop")) _exit(9);
    for (int i = 0; i < 6; ++i) fault_point(FaultPoint::work_start);
    _exit(7);
  }
  int status = 0;
  for (int stops = 0; stops < 3; ++stops) {
    ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
    EXPECT_TRUE(WIFSTOPPED(status)) << stops;
    kill(child, SIGCONT);
  }
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

TEST(Futex, DoesNotSleepWhenTheWordHasChanged) {
  std::atomic<std::uint32_t> word{7};
  SystemPolicy::sleep(word, 6);  // would hang
}

TEST(Futex, ASleeperUsesNoCpuUntilItIsWoken) {
  std::atomic<std::uint32_t> word{0};
  std::atomic<bool> awake{false};
  timespec used{};
  std::thread sleeper([&] {
    while (word.load() == 0) SystemPolicy::sleep(word, 0);
    awake = true;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_FALSE(awake);
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
