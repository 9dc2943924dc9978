#include "pipeline/process/graph_cut.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/process/sample_writer.h"
#include "tests/support/example_graphs.h"

namespace brigade {
namespace {

using testing::ElementsAre;

struct Cut : testing::Test {
  GraphBuilder graph = diamond_graph();
  StageTypes types;
  Cut() { add_sample_writer(types); }

  Result<ValidGraph> below(const std::string& stage) {
    return cut_below(graph.build(), stage, *types.find(kSampleWriter), "look");
  }
  static std::vector<std::string> names(const ValidGraph& cut) {
    std::vector<std::string> names;
    for (const ValidStage& stage : cut.stages) names.push_back(stage.name);
    return names;
  }
};

TEST_F(Cut, KeepsWhatIsAboveTheStage) {
  EXPECT_THAT(names(*below("flip")), ElementsAre("images", "flip", "look"));
  EXPECT_THAT(names(*below("pair")),
              ElementsAre("images", "masks", "flip", "blur", "pair", "look"));
  EXPECT_THAT(names(*below("masks")), ElementsAre("masks", "look"));
}

TEST_F(Cut, SourcesStayWhoTheyWere) {
  const ValidGraph cut = *below("blur");
  for (std::size_t s = 1; s < cut.stages.size(); ++s) {
    const auto source = static_cast<std::size_t>(cut.stages[s].sources.at(0).stage);
    EXPECT_EQ(source, s - 1);
  }
}

TEST_F(Cut, TheReaderSeesWhatTheStageEmits) {
  const ValidStage look = below("pair")->stages.back();
  EXPECT_EQ(look.kind, StageKind::consumer);
  EXPECT_EQ(look.sources.at(0).tensors, graph.stage("pair").outputs);
  EXPECT_FALSE(look.batched);
}

TEST_F(Cut, AConsumerEmitsNothing) {
  EXPECT_EQ(below("train").error().message,
            "stage \"train\" is a consumer: it emits nothing; name one of its sources");
}

TEST_F(Cut, AStageThatIsNotThereIsGuessed) {
  EXPECT_EQ(below("flap").error().message,
            "there is no stage \"flap\"; did you mean \"flip\"?  The stages are images, masks, "
            "flip, blur, pair, train, watch");
}

}  // namespace
}  // namespace brigade
