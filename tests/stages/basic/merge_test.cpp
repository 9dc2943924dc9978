#include <gtest/gtest.h>

#include "stages/basic/basic_stages.h"
#include "tests/support/stage_harness.h"

namespace brigade {
namespace {

using namespace testing_support;

TEST(MergeTest, GivesEachSampleOfAnySourceOnce) {
  StageTypes types;
  add_merge(types);
  const StageContract& contract = types.all()[0].contract;
  EXPECT_EQ(contract.numbering, Numbering::free);
  EXPECT_EQ(contract.outputs_per_input(contract.make_params().get()).value(), 1u);
  EXPECT_TRUE(contract.several_inputs);
  EXPECT_TRUE(contract.rest_passes);
  EXPECT_FALSE(contract.may_drop);
  const auto stage = StageHarness::open(types.all()[0], {{}, {{"image", u8, {2}}}, {}}).value();
  EXPECT_EQ(stage->process({host_tensor<std::uint8_t>("image", {2}, {1, 2})})->next, Next::emit);
}

}  // namespace
}  // namespace brigade
