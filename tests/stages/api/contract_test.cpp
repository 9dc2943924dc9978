#include <brigade/contract.h>
#include <brigade/skipped_inputs.h>
#include <brigade/stage.h>

#include <gtest/gtest.h>

#include <set>

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

TEST(ContractTest, DefaultsComeFromTheStructAndParametersReachIt) {
  const StageContract contract = flip().erased();
  const ParamSpec& chance = *contract.find_param("chance");
  const ParamSpec& mode = *contract.find_param("mode");
  EXPECT_EQ(chance.default_value, ParamValue::scalar("0.5"));
  EXPECT_EQ(mode.default_value, ParamValue::scalar("exact"));
  EXPECT_EQ(contract.find_param("speed"), nullptr);
  const auto params = contract.make_params();
  const auto& typed = *static_cast<const FlipParams*>(params.get());
  ASSERT_TRUE(set_param(chance, params.get(), ParamValue::scalar("0.25")));
  ASSERT_TRUE(set_param(mode, params.get(), ParamValue::scalar("fast")));
  EXPECT_EQ(typed.chance, 0.25);
  EXPECT_EQ(typed.mode, Mode::fast);
  EXPECT_EQ(mode.get(params.get()), ParamValue::scalar("fast"));
  const auto error = [&](const ParamValue& value) {
    return set_param(mode, params.get(), value).error().message;
  };
  EXPECT_EQ(error(ParamValue::scalar("slow")), "expected one of fast, exact, found \"slow\"");
  EXPECT_EQ(error(ParamValue{}), "expected one of fast, exact, found nothing");
}

TEST(ContractTest, RequiredParametersHaveNoDefault) {
  const auto contract =
      flip().param("table", &FlipParams::table, "a table").required().file_header();
  const ParamSpec& table = *contract.erased().find_param("table");
  EXPECT_TRUE(table.required);
  EXPECT_EQ(table.default_value, ParamValue{});
  EXPECT_EQ(contract.erased().metadata, std::vector<std::string>{"table"});
  FlipParams params;
  EXPECT_EQ(set_param(table, &params, ParamValue{}).error().message,
            "expected the path of a file or folder, found nothing");
}

TEST(ContractTest, OutputsSeeParametersInputsAndMetadata) {
  auto contract = flip().outputs(
      [](const FlipParams& p, const Ports& in, const FileMetadata& metadata) -> Result<Ports> {
        if (metadata.find("table") == nullptr) return Error{"no table"};
        return Ports{{"image", in.tensors[0].dtype, {p.chance > 0.4 ? 1 : 2}}};
      });
  const FlipParams params;
  const Ports in{{"image", u8, {4, 4, 1}}};
  EXPECT_EQ(contract.erased().outputs(&params, in, {}).error().message, "no table");
  FileMetadata metadata;
  metadata.files.push_back({"table", {}});
  EXPECT_EQ(contract.erased().outputs(&params, in, metadata)->tensors[0].text(), "image u8[1]");
}

TEST(ContractTest, CountsOfOutputsComeFromTheParameters) {
  FlipParams params;
  params.chance = 3;
  const auto count = [](const FlipParams& p) { return static_cast<std::uint64_t>(p.chance); };
  const StageContract fixed = flip().expand(count).erased();
  EXPECT_EQ(fixed.numbering, Numbering::expand);
  EXPECT_EQ(fixed.outputs_per_input(&params).value(), 3u);
  EXPECT_EQ(flip().flat_map(count).erased().numbering, Numbering::flat_map);
  EXPECT_EQ(flip().erased().numbering, Numbering::one_to_one);
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

TEST(ContractHashTest, IsAPureFunctionThatIgnoresHelpAndExample) {
  EXPECT_EQ(flip().erased().hash(), flip().erased().hash());
  EXPECT_EQ(flip().example("flip: {}").erased().hash(), flip().erased().hash());
}

TEST(ContractHashTest, SeesEveryThingAGraphDependsOn) {
  std::vector<StageContract> all = {
      flip().erased(),
      flip().consumer().erased(),
      flip().takes(Takes::batches).erased(),
      flip().may_drop().erased(),
      flip().expand([](const FlipParams&) { return 2u; }).erased(),
      flip().flat_map([](const FlipParams&) { return 2u; }).erased(),
      flip().stateful().erased(),
      flip().several_inputs().erased(),
      flip().input("mask", {u8}, {any_size}, "").erased(),
      flip().input("mask", {i8}, {any_size}, "").erased(),
      flip().one_of({{"mask", {}, true, {}, ""}}).erased(),
      flip().reports("loss", Combine::mean, "").erased(),
      flip().reports("loss", Combine::sum, "").erased(),
      flip().param("table", &FlipParams::table, "").erased(),
      flip().param("table", &FlipParams::table, "").required().erased(),
      flip().param("table", &FlipParams::table, "").file_header().erased(),
  };
  const auto changed = [&]() -> StageContract& { return all.emplace_back(StageContract(all[0])); };
  changed().params[0].maximum = 2;
  changed().params[0].default_value = ParamValue::scalar("0.6");
  changed().params[1].choices.push_back("slow");
  changed().rest_passes = false;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(all[i].hash(), all[j].hash()) << i << " " << j;
}

struct NoParams {};

class Silent : public Stage {
  Result<Next> process(const Inputs&, Outputs&) override { return Next::drop; }
};

TEST(StageTest, OnlyProcessMustBeWritten) {
  const std::unique_ptr<Stage> stage = std::make_unique<Silent>();
  EXPECT_TRUE(stage->open({}));
  EXPECT_TRUE(stage->epoch_end({}));
  EXPECT_TRUE(stage->close());
}

TEST(OpenContextTest, RefusesTheWrongParameterStruct) {
  const NoParams params;
  OpenContext context;
  context.params_data = &params;
  context.params_type = typeid(NoParams).name();
  EXPECT_EQ(&context.params<NoParams>(), &params);
  EXPECT_DEATH((void)context.params<int>(), "params_type");
}

TEST(SkippedInputs, EveryReasonHasAWordOfItsOwn) {
  std::set<std::string_view> names;
  for (int why = 0; why <= static_cast<int>(SkipReason::blank); ++why)
    names.insert(skip_reason_name(static_cast<SkipReason>(why)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(SkipReason::blank) + 1);
  EXPECT_EQ(names.count(""), 0u);
}

TEST(SkipTally, CountsByKindAndKeepsAFewExamples) {
  SkipTally tally, other;
  for (const char* name : {".txt", ".md", ".txt", ".csv", ".log"})
    tally.add(SkipReason::no_match, "files that are not images", name);
  other.add(SkipReason::hidden, "hidden files");
  other.add(SkipReason::no_match, "files that are not images", ".md");
  tally.add(other);
  EXPECT_EQ(tally.list(),
            (std::vector<SkippedInputs>{{SkipReason::no_match, 6,
                                         "files that are not images (\".txt\", \".md\", \".csv\")"},
                                        {SkipReason::hidden, 1, "hidden files"}}));
}

TEST(SkipTally, NamesOfAnyBytesAreCutAndPrintable) {
  SkipTally tally;
  tally.add(SkipReason::no_match, "files", "\x1b[31m\n" + std::string(1000, 'x'));
  const std::string text = tally.list().front().text;
  EXPECT_LT(text.size(), kSkipTextBytesMax);
  EXPECT_EQ(text.find('\x1b'), text.npos);
  EXPECT_EQ(text.find('\n'), text.npos);
}

}  // namespace
}  // namespace brigade
