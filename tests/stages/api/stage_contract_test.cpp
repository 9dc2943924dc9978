#include "stages/api/stage_contract.h"

#include <gtest/gtest.h>

#include "stages/api/contract.h"

namespace brigade {
namespace {

enum class Mode { fast, exact };

struct FlipParams {
  double chance = 0.5;
  Mode mode = Mode::exact;
  InputPath table;
};

Contract<FlipParams> flip() {
  return Contract<FlipParams>("flip", "Mirrors an image.")
      .transform()
      .param("chance", &FlipParams::chance, 0, 1, "probability per sample")
      .choice("mode", &FlipParams::mode, {{"fast", Mode::fast}, {"exact", Mode::exact}}, "how")
      .input("image", {u8}, {any_size, any_size, any_size}, "HWC")
      .rest_passes();
}

TEST(StageContractTest, KindsHaveTheNamesOfTheYaml) {
  EXPECT_EQ(stage_kind_name(StageKind::producer), "producer");
  EXPECT_EQ(stage_kind_name(StageKind::transform), "transform");
  EXPECT_EQ(stage_kind_name(StageKind::consumer), "consumer");
}

TEST(StageContractTest, KnowsTheTensorsItNames) {
  StageContract contract = flip().one_of({{"mask", {}, true, {}, ""}}).erased();
  contract.named_inside = {"label"};
  EXPECT_TRUE(contract.names("image"));
  EXPECT_TRUE(contract.names("mask"));
  EXPECT_TRUE(contract.names("label"));
  EXPECT_FALSE(contract.names("chance"));
}

TEST(ContractHashTest, IsAPureFunction) {
  EXPECT_EQ(flip().erased().hash(), flip().erased().hash());
}

TEST(ContractHashTest, IgnoresHelpAndExample) {
  EXPECT_EQ(flip().example("flip: {}").erased().hash(), flip().erased().hash());
}

TEST(ContractHashTest, SeesEveryThingAGraphDependsOn) {
  std::vector<StageContract> all = {
      flip().erased(),
      flip().consumer().erased(),
      flip().takes(Takes::batches).erased(),
      flip().may_drop().erased(),
      flip().fixed_outputs([](const FlipParams&) { return 2u; }).erased(),
      flip().free_outputs([](const FlipParams&) { return 2u; }).erased(),
      flip().stateful().erased(),
      flip().several_inputs().erased(),
      flip().registers_host_memory().erased(),
      flip().input("mask", {u8}, {any_size}, "").erased(),
      flip().input("mask", {i8}, {any_size}, "").erased(),
      flip().one_of({{"mask", {}, true, {}, ""}}).erased(),
      flip().reports("loss", Combine::mean, "").erased(),
      flip().reports("loss", Combine::sum, "").erased(),
      flip().param("table", &FlipParams::table, "").erased(),
      flip().param("table", &FlipParams::table, "").required().erased(),
      flip().param("table", &FlipParams::table, "").fact().erased(),
  };
  all.push_back(all.front());
  all.back().params[0].maximum = 2;
  all.push_back(all.front());
  all.back().params[0].default_value = ParamValue::scalar("0.6");
  all.push_back(all.front());
  all.back().params[1].choices.push_back("slow");
  all.push_back(all.front());
  all.back().rest_passes = false;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(all[i].hash(), all[j].hash()) << i << " " << j;
}
}  // namespace
}  // namespace brigade
