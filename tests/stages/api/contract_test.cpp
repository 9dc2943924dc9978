#include "stages/api/contract.h"

#include <gtest/gtest.h>

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
      .rest_passes()
      .outputs([](const FlipParams&, const Ports& in) -> Result<Ports> {
        return Ports{*in.find("image")};
      });
}

TEST(ContractTest, DefaultsComeFromTheStruct) {
  const auto contract = flip();
  EXPECT_EQ(contract.erased().find_param("chance")->default_value, ParamValue::scalar("0.5"));
  EXPECT_EQ(contract.erased().find_param("mode")->default_value, ParamValue::scalar("exact"));
  EXPECT_EQ(contract.erased().find_param("speed"), nullptr);
}

TEST(ContractTest, ParametersReachTheStruct) {
  const auto contract = flip();
  const auto params = contract.erased().make_params();
  const auto& typed = *static_cast<const FlipParams*>(params.get());
  ASSERT_TRUE(
      set_param(*contract.erased().find_param("chance"), params.get(), ParamValue::scalar("0.25")));
  ASSERT_TRUE(
      set_param(*contract.erased().find_param("mode"), params.get(), ParamValue::scalar("fast")));
  EXPECT_EQ(typed.chance, 0.25);
  EXPECT_EQ(typed.mode, Mode::fast);
  EXPECT_EQ(contract.erased().find_param("mode")->get(params.get()), ParamValue::scalar("fast"));
}

TEST(ContractTest, AChoiceNamesItsChoices) {
  const auto contract = flip();
  const auto params = contract.erased().make_params();
  const auto set = [&](const ParamValue& value) {
    return set_param(*contract.erased().find_param("mode"), params.get(), value).error().message;
  };
  EXPECT_EQ(set(ParamValue::scalar("slow")), "expected one of fast, exact, found \"slow\"");
  EXPECT_EQ(set(ParamValue{}), "expected one of fast, exact, found nothing");
}

TEST(ContractTest, RequiredParametersHaveNoDefault) {
  const auto contract = flip().param("table", &FlipParams::table, "a table").required().fact();
  const ParamSpec& table = *contract.erased().find_param("table");
  EXPECT_TRUE(table.required);
  EXPECT_EQ(table.default_value, ParamValue{});
  EXPECT_EQ(contract.erased().facts, std::vector<std::string>{"table"});
  FlipParams params;
  EXPECT_EQ(set_param(table, &params, ParamValue{}).error().message,
            "expected the path of a file or folder, found nothing");
}

TEST(ContractTest, OutputsSeeParametersInputsAndFacts) {
  auto contract =
      flip().outputs([](const FlipParams& p, const Ports& in, const Facts& facts) -> Result<Ports> {
        if (facts.find("table") == nullptr) return Error{"no table"};
        return Ports{{"image", in.tensors[0].dtype, {p.chance > 0.4 ? 1 : 2}}};
      });
  const FlipParams params;
  const Ports in{{"image", u8, {4, 4, 1}}};
  EXPECT_EQ(contract.erased().outputs(&params, in, {}).error().message, "no table");
  Facts facts;
  facts.files.push_back({"table", {}});
  EXPECT_EQ(contract.erased().outputs(&params, in, facts)->tensors[0].text(), "image u8[1]");
}

TEST(ContractTest, CountsOfOutputsComeFromTheParameters) {
  FlipParams params;
  params.chance = 3;
  const auto count = [](const FlipParams& p) { return static_cast<std::uint64_t>(p.chance); };
  const StageContract fixed = flip().fixed_outputs(count).erased();
  EXPECT_EQ(fixed.numbering, Numbering::fixed);
  EXPECT_EQ(fixed.outputs_per_input(&params).value(), 3u);
  EXPECT_EQ(flip().free_outputs(count).erased().numbering, Numbering::free);
  EXPECT_EQ(flip().erased().numbering, Numbering::one_to_one);
}

}  // namespace
}  // namespace brigade
