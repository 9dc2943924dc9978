#include <gtest/gtest.h>

#include "stages/basic/basic_stages.h"
#include "tests/support/stage_harness.h"

namespace brigade {
namespace {

using namespace testing_support;

StageType cache_type() {
  StageTypes types;
  add_cache(types);
  return types.all()[0];
}

TEST(CacheTest, SaysThatItIsACacheAndWhatRoomIsAskedFor) {
  const StageContract contract = cache_type().contract;
  EXPECT_TRUE(contract.cache);
  EXPECT_EQ(contract.samples(make_params(contract, {}).value().get(), {}), std::nullopt);
  EXPECT_EQ(contract.samples(make_params(contract, {{"samples", "9"}}).value().get(), {}), 9u);
}

TEST(CacheTest, LetsEverythingPass) {
  const StageType type = cache_type();
  EXPECT_TRUE(type.contract.rest_passes);
  const auto stage = StageHarness::open(type, {{}, {{"image", u8, {2}}}, {}}).value();
  EXPECT_EQ(stage->outputs(), Ports{});
  const auto call = stage->process({host_tensor<std::uint8_t>("image", {2}, {1, 2})});
  EXPECT_EQ(call->next, Next::emit);
}

}  // namespace
}  // namespace brigade
