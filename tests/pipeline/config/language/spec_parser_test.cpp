#include "pipeline/config/language/spec_parser.h"
#include "pipeline/config/language/graph_spec.h"
#include "pipeline/config/language/source_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/config/reads_yaml.h"

namespace brigade {
namespace {

using testing::HasSubstr;

class SpecParser : public ReadsYaml {
 protected:
  GraphSpec parse(std::string text) { return parse_graph(read(std::move(text)), diagnostics_); }
};

TEST_F(SpecParser, ReadsTheTopLevel) {
  const GraphSpec graph = parse(
      "brigade: 1\nname: n\nseed: 2\nepochs: 3\nvars: {a: 1}\ndrain: 4s\noversubscribe: true\n"
      "memory: 5MiB\ncheckpoint: {file: m.pt}\nx-whatever: [1]\n"
      "stages: {b: {producer: p}, a: {consumer: c, from: b}}\n");
  EXPECT_TRUE(diagnostics_.ok()) << messages();
  EXPECT_EQ(graph.name, "n");
  EXPECT_EQ(graph.seed, 2u);
  EXPECT_EQ(graph.epochs, 3u);
  EXPECT_EQ(graph.drain_ns, 4'000'000'000);
  EXPECT_TRUE(graph.oversubscribe);
  EXPECT_EQ(graph.memory_bytes_max, 5u << 20);
  EXPECT_EQ(graph.checkpoint_file->value.path, "m.pt");
  ASSERT_EQ(graph.stages.size(), 2u);
  EXPECT_EQ(graph.stages[0].name.value, "b") << "in the order of the text";
}

TEST_F(SpecParser, TheVersionMayBeDropped) {
  parse("stages: {b: {producer: p}}\n");
  EXPECT_TRUE(diagnostics_.ok()) << messages();
}

TEST_F(SpecParser, WhatIsNotGivenHasItsDefault) {
  const GraphSpec graph = parse("stages: {b: {producer: p}}\n");
  EXPECT_EQ(static_cast<const GraphKeys&>(graph), GraphKeys());
  EXPECT_EQ(static_cast<const StageKeys&>(graph.stages[0]), StageKeys());
  EXPECT_EQ(graph.stages[0].given("replicas"), nullptr);
}

TEST_F(SpecParser, TooManyStagesAreRefused) {
  std::string text = "stages:\n";
  for (int i = 0; i < 257; ++i) text += "  s" + std::to_string(i) + ": {producer: p}\n";
  EXPECT_TRUE(parse(text).stages.empty());
  EXPECT_THAT(messages(), HasSubstr("more than 256 stages"));
}

TEST(StageSpec, KnowsWhichKeysWereGiven) {
  StageSpec stage;
  stage.keys.push_back({find_key(KeyScope::stage, "batch"), {}, {}, false});
  stage.keys.push_back({find_key(KeyScope::stage, "threads"), {}, {}, true});
  EXPECT_NE(stage.find("batch"), nullptr);
  EXPECT_EQ(stage.given("batch"), nullptr) << "it could not be read";
  EXPECT_EQ(stage.given("threads"), &stage.keys[1].value_span);
  EXPECT_EQ(stage.find("chunk"), nullptr);
}

class SourceParser : public ReadsYaml {
 protected:
  std::optional<std::vector<SourceSpec>> parse(std::string text) {
    SpecReader read("", diagnostics_);
    return parse_sources(this->read(std::move(text)).entries.at(0), read);
  }
};

TEST_F(SourceParser, ASource) {
  const auto sources = parse("from: images\n");
  ASSERT_EQ(sources->size(), 1u);
  EXPECT_EQ(sources->at(0).stage, "images");
  EXPECT_FALSE(sources->at(0).port);
  EXPECT_EQ(sources->at(0).span.mark, (SourceMark{0, 1, 7}));
}

TEST_F(SourceParser, ATensorOfASource) {
  const auto sources = parse("from: images.label\n");
  EXPECT_EQ(sources->at(0).stage, "images");
  EXPECT_EQ(sources->at(0).tensor, "label");
}

TEST_F(SourceParser, AListOfSources) {
  const auto sources = parse("from: [a, {stage: b.x, batch: 4}]\n");
  ASSERT_EQ(sources->size(), 2u);
  EXPECT_EQ(sources->at(1).stage, "b");
  EXPECT_EQ(sources->at(1).tensor, "x");
  EXPECT_EQ(sources->at(1).batch->value, 4u);
}

TEST_F(SourceParser, AMappingOfPorts) {
  const auto sources = parse("from: {train: a, test: {stage: b, batch: 8}}\n");
  ASSERT_EQ(sources->size(), 2u);
  EXPECT_EQ(sources->at(0).port->value, "train");
  EXPECT_EQ(sources->at(1).port->value, "test");
  EXPECT_EQ(sources->at(1).batch->value, 8u);
}

TEST_F(SourceParser, AMappingWithTheKeyStageIsASource) {
  const auto sources = parse("from: {stage: a, batch: 8}\n");
  ASSERT_EQ(sources->size(), 1u);
  EXPECT_FALSE(sources->at(0).port);
}

TEST_F(SourceParser, ReportsEveryBrokenSource) {
  EXPECT_FALSE(parse("from: [\"\", a.b.c, [x], .a, a., {batch: 3}]\n"));
  EXPECT_EQ(diagnostics_.errors(), 6u) << messages();
}

TEST_F(SourceParser, ManySourcesAreRefused) {
  std::string text = "from: [a";
  for (int i = 0; i < 64; ++i) text += ", a" + std::to_string(i);
  EXPECT_FALSE(parse(text + "]\n"));
  EXPECT_THAT(messages(), testing::HasSubstr("more than 64 sources"));
}

class StageParserTest : public ReadsYaml {
 protected:
  StageSpec parse(const std::string& body) {
    return parse_stage(read("a: " + body + "\n").entries.at(0), diagnostics_);
  }
};

TEST_F(StageParserTest, ReadsEveryBuiltKey) {
  const StageSpec stage = parse(
      "{transform: t, from: b, params: {x: 1}, replicas: auto, threads: 2, batch: 3, chunk: 4, "
      "buffers: 5, device: cuda:1, on_error: {skip: 6}, restart: never, stall_timeout: 7s, "
      "poison_after: 8, cpus: [1], env: {A: b}, keep: [c], random: r, drop_last: true}");
  EXPECT_TRUE(diagnostics_.ok()) << messages();
  EXPECT_EQ(stage.kind, StageKind::transform);
  EXPECT_EQ(stage.types.at(0).name.value, "t");
  EXPECT_EQ(stage.sources.at(0).stage, "b");
  EXPECT_EQ(stage.params->value.entries.size(), 1u);
  EXPECT_EQ(stage.replicas, 0u);
  EXPECT_EQ(stage.threads, 2u);
  EXPECT_EQ(stage.batch, 3u);
  EXPECT_EQ(stage.chunk, 4u);
  EXPECT_EQ(stage.buffers, 5u);
  EXPECT_EQ(stage.device, "cuda:1");
  EXPECT_EQ(stage.on_error.count_max, 6u);
  EXPECT_EQ(stage.restart.policy, RestartSpec::Policy::never);
  EXPECT_EQ(stage.stall.after_ns, 7'000'000'000);
  EXPECT_EQ(stage.poison_after, 8);
  EXPECT_EQ(stage.cpus, std::vector<int>{1});
  EXPECT_EQ(stage.env.at(0).second, "b");
  EXPECT_EQ(stage.keep->at(0).value, "c");
  EXPECT_EQ(stage.random, "r");
  EXPECT_TRUE(stage.drop_last);
}

TEST_F(StageParserTest, ReadsAFused) {
  const StageSpec stage = parse("{transform: [x, {y: {p: 1}}], from: b}");
  ASSERT_EQ(stage.types.size(), 2u);
  EXPECT_EQ(stage.types[0].name.value, "x");
  EXPECT_EQ(stage.types[1].name.value, "y");
  EXPECT_TRUE(stage.types[1].params->is_map());
  EXPECT_EQ(stage.fused->mark.column, 16);
  EXPECT_TRUE(diagnostics_.ok()) << messages();
}

TEST_F(StageParserTest, EmptyMappingsAreNoMistake) {
  const StageSpec stage = parse("\n  producer: p\n  params:\n  env:");
  EXPECT_TRUE(diagnostics_.ok()) << messages();
  EXPECT_FALSE(stage.params);
  EXPECT_FALSE(stage.params_broken);
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
