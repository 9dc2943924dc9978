#include "transports/fault_points.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <string>

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
  for (const char* text : {"", "claim.start", "claim.start:1", "claim.start::kill",
                           "claim.start:0:kill", "claim.start:-1:kill", "claim.start:2x:kill",
                           "claim.start:2:", "claim.start:2:dance", "claim.never:2:kill", "::"}) {
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

}  // namespace
}  // namespace brigade
