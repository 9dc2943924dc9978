#include "pipeline/config/source_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/config/yaml_reader.h"

namespace brigade {
namespace {

class SourceParser : public testing::Test {
 protected:
  std::optional<std::vector<SourceSpec>> parse(std::string text) {
    const int file = source_.add({"g.yaml", std::move(text), "/"});
    tree_ = read_yaml(source_, file, diagnostics_).value();
    SpecReader read("", diagnostics_);
    return parse_sources(tree_.entries.at(0), read);
  }

  SourceText source_;
  Diagnostics diagnostics_;
  YamlNode tree_;
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
  EXPECT_EQ(diagnostics_.errors(), 6u) << diagnostics_.render(source_);
}

TEST_F(SourceParser, ManySourcesAreRefused) {
  std::string text = "from: [a";
  for (int i = 0; i < 64; ++i) text += ", a" + std::to_string(i);
  EXPECT_FALSE(parse(text + "]\n"));
  EXPECT_THAT(diagnostics_.render(source_), testing::HasSubstr("more than 64 sources"));
}

}  // namespace
}  // namespace brigade
