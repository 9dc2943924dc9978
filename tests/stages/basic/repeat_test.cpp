#include <gtest/gtest.h>

#include "stages/basic/basic_stages.h"
#include "tests/support/stage_harness.h"

namespace brigade {
namespace {

using namespace testing_support;

StageType repeat_type() {
  StageTypes types;
  add_repeat(types);
  return types.all()[0];
}

TEST(RepeatTest, SaysHowOftenEachSampleIsGiven) {
  const StageContract contract = repeat_type().contract;
  EXPECT_EQ(contract.numbering, Numbering::fixed);
  EXPECT_EQ(contract.outputs_per_input(make_params(contract, {}).value().get()).value(), 2u);
  EXPECT_EQ(
      contract.outputs_per_input(make_params(contract, {{"times", "7"}}).value().get()).value(),
      7u);
  EXPECT_FALSE(make_params(contract, {{"times", "0"}}).ok());
}

TEST(RepeatTest, NamesNothingAndLetsEverythingPass) {
  const StageType type = repeat_type();
  EXPECT_TRUE(type.contract.rest_passes);
  const auto stage = StageHarness::open(type, {{}, {{"image", u8, {2}}}, {}}).value();
  EXPECT_EQ(stage->outputs(), Ports{});
  const auto call = stage->process({host_tensor<std::uint8_t>("image", {2}, {1, 2})});
  EXPECT_EQ(call->next, Next::emit);
}

}  // namespace
}  // namespace brigade
