#include "pipeline/config/spec_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/config/yaml_reader.h"

namespace brigade {
namespace {

using testing::HasSubstr;

class SpecParser : public testing::Test {
 protected:
  GraphSpec parse(std::string text) {
    const int file = source_.add({"g.yaml", std::move(text), "/"});
    tree_ = read_yaml(source_, file, diagnostics_).value();
    return parse_graph(tree_, diagnostics_);
  }
  std::string messages() const { return diagnostics_.render(source_); }

  SourceText source_;
  Diagnostics diagnostics_;
  YamlNode tree_;
};

TEST_F(SpecParser, ReadsTheTopLevel) {
  const GraphSpec graph = parse(
      "brigade: 1\nname: n\nseed: 2\nepochs: 3\nvars: {a: 1}\ndrain: 4s\noversubscribe: true\n"
      "memory: 5MiB\ncheckpoint: {file: m.pt}\nx-whatever: [1]\n"
      "stages: {b: {producer: p}, a: {consumer: c, from: b}}\n");
  EXPECT_TRUE(diagnostics_.ok()) << messages();
  EXPECT_EQ(graph.name->value, "n");
  EXPECT_EQ(graph.seed->value, 2u);
  EXPECT_EQ(graph.epochs->value, 3u);
  EXPECT_EQ(graph.drain_ns->value, 4'000'000'000);
  EXPECT_TRUE(graph.oversubscribe->value);
  EXPECT_EQ(graph.memory_bytes_max->value, 5u << 20);
  EXPECT_EQ(graph.checkpoint_file->value.path, "m.pt");
  ASSERT_EQ(graph.stages.size(), 2u);
  EXPECT_EQ(graph.stages[0].name.value, "b") << "in the order of the text";
}

TEST_F(SpecParser, TheVersionMayBeLeftOut) {
  parse("stages: {b: {producer: p}}\n");
  EXPECT_TRUE(diagnostics_.ok()) << messages();
}

TEST_F(SpecParser, WhatIsNotGivenStaysOpen) {
  const GraphSpec graph = parse("stages: {b: {producer: p}}\n");
  EXPECT_FALSE(graph.name || graph.seed || graph.epochs || graph.drain_ns);
  EXPECT_FALSE(graph.stages[0].replicas || graph.stages[0].batch);
}

TEST_F(SpecParser, AStageAtTheTopLevelIsReportedAndRead) {
  const GraphSpec graph = parse("stages: {a: {producer: p}}\nb: {consumer: c, from: a}\n");
  EXPECT_EQ(diagnostics_.errors(), 1u);
  EXPECT_EQ(graph.stages.size(), 2u);
}

TEST_F(SpecParser, TooManyStagesAreRefused) {
  std::string text = "stages:\n";
  for (int i = 0; i < 257; ++i) text += "  s" + std::to_string(i) + ": {producer: p}\n";
  EXPECT_TRUE(parse(text).stages.empty());
  EXPECT_THAT(messages(), HasSubstr("more than 256 stages"));
}

TEST_F(SpecParser, GathersMistakesOfAllLevels) {
  parse("epochs: 0\nsede: 1\nstages:\n  a: {produser: p}\n  b: [1]\n");
  EXPECT_EQ(diagnostics_.errors(), 4u) << messages();
}

}  // namespace
}  // namespace brigade
