// The stages that name no tensor and let everything pass: what they do is the runtime's to do.

#include <gtest/gtest.h>

#include <brigade/harness.h>
#include "stages/basic/basic_stages.h"

namespace brigade {
namespace {

using namespace testing_support;

StageTypes passing_stages() {
  StageTypes types;
  for (const auto add : {add_passthrough, add_cache, add_repeat, add_repack, add_merge}) add(types);
  return types;
}

TEST(PassingStagesTest, NameNothingAndLetEverythingPass) {
  const StageTypes types = passing_stages();
  for (const StageType& type : types.all()) {
    SCOPED_TRACE(type.contract.type);
    EXPECT_TRUE(type.contract.rest_passes);
    EXPECT_FALSE(type.contract.may_drop);
    const auto stage = StageHarness::open(type, {{}, {{"image", u8, {2}}}, {}}).value();
    EXPECT_EQ(stage->outputs(), Ports{});
    EXPECT_EQ(stage->process({host_tensor<std::uint8_t>("image", {2}, {1, 2})})->next, Next::emit);
  }
}

TEST(PassingStagesTest, SayHowTheyNumberWhatTheyGive) {
  const StageTypes types = passing_stages();
  const auto contract = [&](const char* type) { return types.find(type)->contract; };
  for (const char* type : {"repack", "merge"}) {
    EXPECT_EQ(contract(type).numbering, Numbering::flat_map);
    EXPECT_EQ(contract(type).outputs_per_input(contract(type).make_params().get()).value(), 1u);
    EXPECT_EQ(contract(type).several_inputs, type == std::string("merge"));
  }
  const StageContract repeat = contract("repeat");
  EXPECT_EQ(repeat.numbering, Numbering::expand);
  const auto times = [&](const ParamTexts& params) {
    return repeat.outputs_per_input(make_params(repeat, params).value().get()).value();
  };
  EXPECT_EQ(times({}), 2u);
  EXPECT_EQ(times({{"times", "7"}}), 7u);
  EXPECT_FALSE(make_params(repeat, {{"times", "0"}}).ok());
}

TEST(PassingStagesTest, ACacheSaysWhatRoomIsAskedFor) {
  const StageTypes types = passing_stages();
  const StageContract& contract = types.find("cache")->contract;
  EXPECT_TRUE(contract.cache);
  EXPECT_EQ(contract.samples(make_params(contract, {}).value().get(), {}), std::nullopt);
  EXPECT_EQ(contract.samples(make_params(contract, {{"samples", "9"}}).value().get(), {}), 9u);
}

struct HalvesParams {};

/// Each half of a line of numbers.
class Halves : public Stage {
 public:
  Result<Next> process(const Inputs& in, Outputs& out) override {
    EXPECT_EQ(out.samples(), 2 * in.samples());
    for (std::int64_t slot = 0; slot < out.samples(); ++slot) {
      const auto from = in.sample(slot / 2)["data"].as<std::int32_t>().subspan(
          static_cast<std::size_t>(slot % 2) * 2, 2);
      Outputs half = out.sample(slot);
      EXPECT_EQ(half.samples(), 1);
      std::copy(from.begin(), from.end(), half["data"].as<std::int32_t>().begin());
    }
    return Next::emit;
  }
};

TEST(SeveralOfEach, OutputsOfASampleAreSlotsAndThoseOfABatchFollowEachOther) {
  StageTypes types;
  types.add<Halves>(Contract<HalvesParams>("halves", "")
                        .transform()
                        .takes(Takes::either)
                        .expand([](const HalvesParams&) { return std::uint64_t{2}; })
                        .outputs([](const HalvesParams&, const Ports&) -> Result<Ports> {
                          return Ports{{"data", i32, {2}}};
                        }));
  const auto stage = StageHarness::open(types.all()[0], {{}, {{"data", i32, {4}}}, {}}).value();
  const auto call = stage->process({host_tensor<std::int32_t>("data", {4}, {1, 2, 3, 4})}).value();
  EXPECT_EQ(call.of(0, "data").as<std::int32_t>()[1], 2);
  EXPECT_EQ(call.of(1, "data").as<std::int32_t>()[0], 3);
  const std::vector<std::int32_t> numbers = {1, 2, 3, 4, 5, 6, 7, 8};
  const auto batch = stage->process_batch({host_tensor("data", {2, 4}, numbers)}, {{}, {}}).value();
  EXPECT_EQ(batch["data"].shape, (Shape{4, 2}));
  EXPECT_EQ(batch["data"].as<std::int32_t>(), numbers);
}

}  // namespace
}  // namespace brigade
