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

struct HalvesParams {};

/// Each half of a row of numbers, and in `words` as many of its elements as the number of the half.
class Halves : public Stage {
 public:
  Result<Next> process(const Inputs& in, Outputs& out) override {
    EXPECT_EQ(out.rows(), 2 * in.rows());
    for (std::int64_t row = 0; row < out.rows(); ++row) {
      const auto from = in.row(row / 2)["data"].as<std::int32_t>().subspan(
          static_cast<std::size_t>(row % 2) * 2, 2);
      Outputs half = out.row(row);
      EXPECT_EQ(half.rows(), 1);
      std::copy(from.begin(), from.end(), half["data"].as<std::int32_t>().begin());
    }
    return Next::emit;
  }
};

StageType halves_type() {
  StageTypes types;
  types.add<Halves>(Contract<HalvesParams>("halves", "")
                        .transform()
                        .takes(Takes::either)
                        .fixed_outputs([](const HalvesParams&) { return std::uint64_t{2}; })
                        .outputs([](const HalvesParams&, const Ports&) -> Result<Ports> {
                          return Ports{{"data", i32, {2}}};
                        }));
  return types.all()[0];
}

TEST(SeveralOfEach, OutputsOfASampleAreRows) {
  const StageType type = halves_type();
  const auto stage = StageHarness::open(type, {{}, {{"data", i32, {4}}}, {}}).value();
  const auto call = stage->process({host_tensor<std::int32_t>("data", {4}, {1, 2, 3, 4})});
  ASSERT_TRUE(call.ok());
  EXPECT_EQ(call->of(0, "data").as<std::int32_t>()[1], 2);
  EXPECT_EQ(call->of(1, "data").as<std::int32_t>()[0], 3);
}

TEST(SeveralOfEach, OutputsOfABatchFollowEachOther) {
  const StageType type = halves_type();
  const auto stage = StageHarness::open(type, {{}, {{"data", i32, {4}}}, {}}).value();
  const auto call = stage->process_batch(
      {host_tensor<std::int32_t>("data", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})}, {{}, {}});
  ASSERT_TRUE(call.ok());
  EXPECT_EQ((*call)["data"].shape, (Shape{4, 2}));
  EXPECT_EQ((*call)["data"].as<std::int32_t>()[5], 6);
}

}  // namespace
}  // namespace brigade
