#include <gtest/gtest.h>

#include "stages/basic/basic_stages.h"
#include "tests/support/stage_harness.h"

namespace brigade {
namespace {

using namespace testing_support;

TEST(PassthroughTest, NamesNothingAndLetsEverythingPass) {
  StageTypes types;
  add_passthrough(types);
  const StageType& type = types.all()[0];
  EXPECT_TRUE(type.contract.rest_passes);
  const Ports in{{"image", u8, {2}}};
  const auto stage = StageHarness::open(type, {{}, in, {}}).value();
  EXPECT_EQ(stage->outputs(), Ports{});
  const auto call = stage->process({host_tensor<std::uint8_t>("image", {2}, {1, 2})});
  EXPECT_EQ(call->next, Next::emit);
}

}  // namespace
}  // namespace brigade
