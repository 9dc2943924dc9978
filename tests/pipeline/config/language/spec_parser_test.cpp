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

TEST_F(SourceParser, ManySourcesAreRefused) {
  std::string text = "from: [a";
  for (int i = 0; i < 64; ++i) text += ", a" + std::to_string(i);
  EXPECT_FALSE(parse(text + "]\n"));
  EXPECT_THAT(messages(), testing::HasSubstr("more than 64 sources"));
}

}  // namespace
}  // namespace brigade
