#include "pipeline/config/language/program_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/config/language/spec_parser.h"
#include "tests/support/config/reads_yaml.h"

namespace brigade {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ProgramReads : public ReadsYaml {
 protected:
  /// Of the graph that is left: "stage: type(what it reads)".
  std::vector<std::string> read_of(const std::vector<std::string>& stages) {
    const GraphSpec graph =
        parse_graph(read("checkpoint: {file: m.pt}\n"
                         "stages:\n"
                         "  a: {producer: p}\n"
                         "  b: {producer: p, hold: 9, hold_timeout: 3s}\n"
                         "  t: {transform: [x, y], from: [a, b], join: zip}\n"
                         "  end: {consumer: c, from: {stage: t, batch: 3}, "
                         "replicas: 2, drop_last: true, params: {q: 1}}\n"
                         "  app: {consumer: application, from: b, hold: 7, hold_timeout: 0s}\n"),
                    diagnostics_);
    left_ = read_by_program(graph, stages, diagnostics_);
    std::vector<std::string> all;
    for (const StageSpec& stage : left_.stages) {
      std::string text = stage.name.value + ": " + stage.types.at(0).name.value + "(";
      for (const SourceSpec& source : stage.sources) text += source.stage;
      all.push_back(text + ")");
    }
    return all;
  }
  GraphSpec left_;
};

TEST_F(ProgramReads, ConsumersBecomeOutputs) {
  EXPECT_THAT(read_of({"end"}), ElementsAre("a: p()", "b: p()", "t: x(ab)", "end: application(t)"));
  const StageSpec& end = left_.stages.back();
  EXPECT_TRUE(end.drop_last);
  EXPECT_EQ(end.sources.at(0).batch->value, 3u);
  EXPECT_EQ(end.replicas, 1u) << "which an application has no word for";
  EXPECT_EQ(end.find("replicas"), nullptr);
  EXPECT_FALSE(end.params);
  EXPECT_FALSE(left_.checkpoint_file);
}

TEST_F(ProgramReads, OutputsRemainWhatTheyAre) {
  EXPECT_THAT(read_of({"app"}), ElementsAre("b: p()", "app: application(b)"));
  EXPECT_EQ(left_.stages.back().hold, 7u);
  EXPECT_EQ(left_.stages.back().hold_timeout_ns, 0);
}

TEST_F(ProgramReads, OtherStagesGetAnOutput) {
  EXPECT_THAT(read_of({"b", "t", "b"}),
              ElementsAre("a: p()", "b: p()", "t: x(ab)", "b_output: application(b)",
                          "t_output: application(t)"));
  EXPECT_EQ(left_.stages.back().sources.at(0).batch->value, 3u) << "as its reader had it";
  const StageSpec& b_output = left_.stages.at(3);
  EXPECT_EQ(b_output.hold, 9u);
  EXPECT_EQ(b_output.hold_timeout_ns, 3'000'000'000);
  EXPECT_NE(b_output.find("hold"), nullptr);
  EXPECT_EQ(left_.stages.at(1).find("hold"), nullptr) << "which is a producer";
  EXPECT_EQ(left_.stages.at(1).find("hold_timeout"), nullptr);
  EXPECT_TRUE(b_output.sources.at(0).batch_of_one) << "for want of another size";
}

TEST_F(ProgramReads, AGraphWithoutConsumersIsForAProgram) {
  const auto left = [this](const std::string& stages) {
    return left_to_program(parse_graph(
        read("stages:\n  a: {producer: p}\n  b: {producer: p}\n" + stages), diagnostics_));
  };
  EXPECT_THAT(left("  t: {transform: x, from: a}\n  u: {transform: x, from: a}\n"),
              ElementsAre("b", "t", "u"));
  EXPECT_THAT(left("  m: {mix: {a: 1, b: 1}}\n"), ElementsAre("m"));
  EXPECT_THAT(left("  t: {transform: x, from: a}\n  end: {consumer: c, from: b}\n"), ElementsAre());
  EXPECT_THAT(left("  t: {from: a}\n"), ElementsAre()) << "which may be a consumer";
}

TEST_F(ProgramReads, ANameThatIsNotThereIsAnError) {
  EXPECT_TRUE(read_of({"ennd"}).empty());
  EXPECT_THAT(messages(), HasSubstr("there is no stage \"ennd\" to read"));
  EXPECT_THAT(messages(), HasSubstr("did you mean \"end\"?\n  the graph has a, b, t, end, app"));
}

}  // namespace
}  // namespace brigade
