// The larger scenarios: minutes each, up to 1.6 GB.

#include "tests/model/model_checks.h"

namespace brigade::model {
namespace {

constexpr uint64_t kStatesMax = 100'000'000;

class EveryStateOfMore : public testing::TestWithParam<Scenario> {};

TEST_P(EveryStateOfMore, HoldsEveryProperty) {
  if (!kFastBuild) GTEST_SKIP() << "too many states for this build";
  expect_every_property_holds(GetParam(), kStatesMax);
}

INSTANTIATE_TEST_SUITE_P(Protocol, EveryStateOfMore, testing::ValuesIn(large_scenarios()));

}  // namespace
}  // namespace brigade::model
