#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/config/spec_parser.h"
#include "pipeline/config/yaml_reader.h"

namespace brigade {
namespace {

using testing::HasSubstr;

class StageParserTest : public testing::Test {
 protected:
  StageSpec parse(const std::string& body) {
    const int file = source_.add({"g.yaml", "a: " + body + "\n", "/"});
    tree_ = read_yaml(source_, file, diagnostics_).value();
    return parse_stage(tree_.entries.at(0), diagnostics_);
  }
  std::string messages() const { return diagnostics_.render(source_); }

  SourceText source_;
  Diagnostics diagnostics_;
  YamlNode tree_;
};

TEST_F(StageParserTest, ReadsEveryBuiltKey) {
  const StageSpec stage = parse(
      "{transform: t, from: b, params: {x: 1}, replicas: auto, threads: 2, batch: 3, rows: 4, "
      "buffers: 5, device: cuda:1, on_error: {skip: 6}, restart: never, stall_timeout: 7s, "
      "poison_after: 8, cpus: [1], env: {A: b}, keep: [c], random: r, drop_last: true}");
  EXPECT_TRUE(diagnostics_.ok()) << messages();
  EXPECT_EQ(stage.kind, StageKind::transform);
  EXPECT_EQ(stage.types.at(0).name.value, "t");
  EXPECT_EQ(stage.sources.at(0).stage, "b");
  EXPECT_EQ(stage.params->value.entries.size(), 1u);
  EXPECT_EQ(stage.replicas->value, 0u);
  EXPECT_EQ(stage.threads->value, 2u);
  EXPECT_EQ(stage.batch->value, 3u);
  EXPECT_EQ(stage.rows->value, 4u);
  EXPECT_EQ(stage.buffers->value, 5u);
  EXPECT_EQ(stage.device->value, "cuda:1");
  EXPECT_EQ(stage.on_error->value.count_max, 6u);
  EXPECT_EQ(stage.restart->value.policy, RestartSpec::Policy::never);
  EXPECT_EQ(stage.stall->value.after_ns, 7'000'000'000);
  EXPECT_EQ(stage.poison_after->value, 8u);
  EXPECT_EQ(stage.cpus, std::vector<int>{1});
  EXPECT_EQ(stage.env.at(0).second, "b");
  EXPECT_EQ(stage.keep->at(0).value, "c");
  EXPECT_EQ(stage.random->value, "r");
  EXPECT_TRUE(stage.drop_last->value);
}

TEST_F(StageParserTest, ReadsAChain) {
  const StageSpec stage = parse("{transform: [x, {y: {p: 1}}], from: b}");
  ASSERT_EQ(stage.types.size(), 2u);
  EXPECT_EQ(stage.types[0].name.value, "x");
  EXPECT_EQ(stage.types[1].name.value, "y");
  EXPECT_TRUE(stage.types[1].params->is_map());
  EXPECT_EQ(stage.chain->mark.column, 16);
  EXPECT_TRUE(diagnostics_.ok()) << messages();
}

TEST_F(StageParserTest, ParametersBesideAChainAreAnError) {
  parse("{transform: [x, y], from: b, params: {p: 1}}");
  EXPECT_THAT(messages(), HasSubstr("`params` stands beside a list of stage types"));
}

TEST_F(StageParserTest, EmptyMappingsAreNoMistake) {
  const StageSpec stage = parse("\n  producer: p\n  params:\n  env:");
  EXPECT_TRUE(diagnostics_.ok()) << messages();
  EXPECT_FALSE(stage.params);
  EXPECT_FALSE(stage.params_broken);
}

TEST_F(StageParserTest, GathersAllMistakesOfAStage) {
  parse("{transform: t, from: [], batch: 0, device: x, on_error: 3, cpus: y, threads: -1}");
  EXPECT_EQ(diagnostics_.errors(), 6u) << messages();
}

TEST_F(StageParserTest, UnknownKeysWaitForTheTypesAndExtensionsAreSkipped) {
  const StageSpec stage = parse("{producer: p, siz: 3, x-note: 4}");
  EXPECT_TRUE(diagnostics_.ok());
  ASSERT_EQ(stage.unknown_keys.size(), 1u);
  EXPECT_EQ(stage.unknown_keys[0].value, "siz");
}

TEST_F(StageParserTest, EnvironmentNamesAreChecked) {
  parse("{producer: p, env: {\"A B\": 1, C: [1]}}");
  EXPECT_EQ(diagnostics_.errors(), 2u) << messages();
}

}  // namespace
}  // namespace brigade
