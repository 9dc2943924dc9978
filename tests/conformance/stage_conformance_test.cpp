// The same promises for every stage type of the program: what a newcomer reads about it is there,
// defaults are legal, the contract is a pure function. A new type is tested by being in the list.

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <set>

#include <brigade/harness.h>
#include <brigade/text.h>
#include "stages/builtin.h"

namespace brigade {
namespace {

using namespace testing_support;

const StageTypes& builtin() {
  static const StageTypes types = builtin_stage_types();
  return types;
}

bool is_snake_case(std::string_view name) {
  if (name.empty() || name[0] < 'a' || name[0] > 'z') return false;
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

/// An input that the contract's patterns accept; three sizes are those of a picture in HWC.
Ports plausible_inputs(const StageContract& contract) {
  std::vector<TensorPattern> patterns = contract.inputs;
  for (const auto& group : contract.one_of) patterns.push_back(group.front());
  Ports ports;
  for (const TensorPattern& pattern : patterns) {
    TensorType type{pattern.name, pattern.dtypes.empty() ? u8 : pattern.dtypes[0], {}};
    for (const Dim& dim : pattern.shape) {
      const bool channels = pattern.shape.size() == 3 && type.shape.size() == 2;
      type.shape.push_back(dim.kind == Dim::Kind::any ? Dim(channels ? 3 : 28) : Dim(dim.size));
    }
    ports.tensors.push_back(type);
  }
  return ports;
}

ParamValue from_yaml(const YAML::Node& node) {
  if (node.IsScalar()) return ParamValue::scalar(node.Scalar());
  ParamValue out;
  if (node.IsMap()) {
    out.kind = ParamValue::Kind::map;
    for (const auto& entry : node)
      out.entries.emplace_back(entry.first.Scalar(), from_yaml(entry.second));
  }
  if (!node.IsSequence()) return out;
  out.kind = ParamValue::Kind::list;
  for (const auto& item : node) out.items.push_back(from_yaml(item));
  return out;
}

class StageConformanceTest : public testing::TestWithParam<std::size_t> {
 protected:
  const StageType& type_ = builtin().all()[GetParam()];
  const StageContract& contract_ = type_.contract;
};

TEST_P(StageConformanceTest, IsExplained) {
  EXPECT_TRUE(is_snake_case(contract_.type));
  EXPECT_TRUE(contract_.help.ends_with('.')) << contract_.help;
  for (const ParamSpec& param : contract_.params) {
    EXPECT_TRUE(is_snake_case(param.name)) << param.name;
    EXPECT_GT(param.help.size(), 5u) << param.name;
    EXPECT_EQ(param.help.find('\n'), std::string::npos) << param.name;
  }
  for (const TensorPattern& input : contract_.inputs)
    EXPECT_FALSE(input.help.empty()) << input.name;
  for (const ReportSpec& report : contract_.reports)
    EXPECT_FALSE(report.help.empty()) << report.name;
}

TEST_P(StageConformanceTest, NamesAreUnique) {
  std::set<std::string> params, inputs, reports;
  for (const ParamSpec& param : contract_.params)
    EXPECT_TRUE(params.insert(param.name).second) << param.name;
  for (const TensorPattern& input : contract_.inputs)
    EXPECT_TRUE(inputs.insert(input.name).second) << input.name;
  for (const ReportSpec& report : contract_.reports)
    EXPECT_TRUE(reports.insert(report.name).second) << report.name;
}

TEST_P(StageConformanceTest, DefaultsAreLegalAndReadBack) {
  const auto params = contract_.make_params();
  for (const ParamSpec& param : contract_.params) {
    if (param.required) {
      EXPECT_EQ(param.default_value, ParamValue{}) << param.name;
      continue;
    }
    EXPECT_EQ(param.get(params.get()), param.default_value) << param.name;
    const auto set = set_param(param, params.get(), param.default_value);
    ASSERT_TRUE(set) << param.name << ": " << set.error().message;
    EXPECT_EQ(param.get(params.get()), param.default_value) << param.name;
  }
}

TEST_P(StageConformanceTest, RangesAndChoicesAreSound) {
  const auto params = contract_.make_params();
  for (const ParamSpec& param : contract_.params) {
    if (param.minimum && param.maximum) {
      EXPECT_LE(*param.minimum, *param.maximum) << param.name;
    }
    if (param.type != brigade::ParamType::choice) continue;
    EXPECT_GE(param.choices.size(), 2u) << param.name;
    for (const std::string& choice : param.choices)
      EXPECT_TRUE(set_param(param, params.get(), ParamValue::scalar(choice))) << choice;
    EXPECT_FALSE(set_param(param, params.get(), ParamValue::scalar("no such choice")));
  }
}

TEST_P(StageConformanceTest, MetadataAreFilesNamedByParameters) {
  for (const std::string& file_header : contract_.metadata) {
    const ParamSpec* param = contract_.find_param(file_header);
    ASSERT_NE(param, nullptr) << file_header;
    using brigade::ParamType;
    EXPECT_TRUE(param->type == ParamType::input_path || param->type == ParamType::input_paths ||
                param->type == ParamType::input_files || param->type == ParamType::output_path)
        << file_header;
  }
}

TEST_P(StageConformanceTest, TheExampleUsesWhatThereIs) {
  const YAML::Node example = YAML::Load(contract_.example);
  ASSERT_TRUE(example.IsMap()) << contract_.example;
  const std::string kind(stage_kind_name(contract_.kind));
  ASSERT_TRUE(example[kind]) << contract_.example;
  EXPECT_EQ(example[kind].Scalar(), contract_.type);
  EXPECT_EQ(static_cast<bool>(example["from"]), contract_.kind != StageKind::producer);
  const auto params = contract_.make_params();
  const auto given = example["params"];
  for (const auto& entry : given) {
    const ParamSpec* param = contract_.find_param(entry.first.Scalar());
    ASSERT_NE(param, nullptr) << entry.first.Scalar();
    const auto set = set_param(*param, params.get(), from_yaml(entry.second));
    EXPECT_TRUE(set) << param->name << ": " << set.error().message;
  }
  for (const ParamSpec& param : contract_.params)
    EXPECT_TRUE(!param.required || given[param.name]) << param.name;
}

TEST_P(StageConformanceTest, TheContractIsAPureFunction) {
  const Ports in = plausible_inputs(contract_);
  const auto ask = [&] {
    const auto ports = contract_.outputs(contract_.make_params().get(), in, {});
    std::string text = ports ? "" : ports.error().message;
    for (const TensorType& tensor : ports ? ports->tensors : std::vector<TensorType>{})
      text += tensor.text() + "; ";
    return text;
  };
  EXPECT_EQ(ask(), ask());
  const StageTypes fresh = builtin_stage_types();
  EXPECT_EQ(fresh.all()[GetParam()].contract.hash(), contract_.hash());
}

TEST_P(StageConformanceTest, GivesNothingItCannotName) {
  const auto ports =
      contract_.outputs(contract_.make_params().get(), plausible_inputs(contract_), {});
  if (!ports) return;  // a fact is missing: the type's own tests have the file
  std::set<std::string> names;
  for (const TensorType& tensor : ports->tensors) {
    EXPECT_FALSE(tensor.name.empty());
    EXPECT_TRUE(names.insert(tensor.name).second) << tensor.name;
    for (const Dim& dim : tensor.shape) EXPECT_NE(dim.kind, Dim::Kind::any) << tensor.text();
  }
  EXPECT_TRUE(contract_.kind != StageKind::consumer || names.empty());
}

TEST_P(StageConformanceTest, OpensAndClosesWithItsDefaults) {
  const bool needs_more = std::any_of(contract_.params.begin(), contract_.params.end(),
                                      [](const ParamSpec& param) { return param.required; });
  if (needs_more || !type_.module.empty() || contract_.application)
    GTEST_SKIP() << "needs a file, its module, or a program";
  const auto stage = StageHarness::open(type_, {{}, plausible_inputs(contract_), {}});
  ASSERT_TRUE(stage) << stage.error().message;
  EXPECT_TRUE((*stage)->close());
}

/// Two may have one name: what a program gives, and what it reads.
std::string name_of(const testing::TestParamInfo<std::size_t>& number) {
  const StageContract& contract = builtin().all()[number.param].contract;
  return contract.application ? concat(contract.type, "_", stage_kind_name(contract.kind))
                              : contract.type;
}

INSTANTIATE_TEST_SUITE_P(Builtin, StageConformanceTest,
                         testing::Range<std::size_t>(0, builtin().all().size()), name_of);

}  // namespace
}  // namespace brigade
