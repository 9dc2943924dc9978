// What the check says of mixtures: tests/golden/sources/mix.txt.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <brigade/text.h>
#include "pipeline/api/load_and_plan.h"
#include "pipeline/cli/draw/plan_printer.h"
#include "pipeline/config/graph/effective_yaml.h"
#include "stages/builtin.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::HasSubstr;

/// A mixture with these keys of `photos` (100 samples) and `drawings` (20), below them more stages.
struct MixedGraph : testing::Test {
  TemporaryFolder folder;
  StageTypes types = builtin_stage_types();
  std::string photos = "producer: synthetic, params: {count: 100, shape: [4]}";
  std::string drawings = "producer: synthetic, params: {count: 20, shape: [4]}";

  PlannedGraph planned(const std::string& keys, const std::string& more = "",
                       std::optional<SampleLimit> limit = {}) {
    const std::string file =
        folder.write("g.yaml", concat("stages:\n  photos: {", photos, "}\n  drawings: {", drawings,
                                      "}\n  images: {", keys, "}\n", more,
                                      "  sink: {consumer: count, from: images}\n"));
    return plan_files({{file}, {}, limit}, types);
  }
  std::uint64_t size(const std::string& keys, std::optional<SampleLimit> limit = {}) {
    const auto result = planned(concat("shuffle: true, ", keys), "", limit);
    EXPECT_EQ(result.messages, "");
    return result.sources.at(0).gives.value_or(0);
  }
};

TEST_F(MixedGraph, IsOneStageOfThePlan) {
  const auto result = planned("shuffle: true, mix: {photos: 0.7, drawings: 0.3}");
  ASSERT_EQ(result.messages, "");
  ASSERT_EQ(result.plan->stages.size(), 2u);
  const PlanStage& mix = result.plan->stages[StageNumber(0)];
  EXPECT_EQ(mix.name, "images");
  ASSERT_EQ(mix.parts.size(), 2u) << "by name";
  EXPECT_EQ(mix.parts[0].name, "drawings");
  EXPECT_EQ(mix.parts[1].type, "synthetic");
}

TEST_F(MixedGraph, KnowsTheSamplesOfAnEpochBeforeTheRun) {
  EXPECT_EQ(size("mix: {photos: 0.7, drawings: 0.3}"), 120u);
  EXPECT_EQ(size("mix: {photos: 0.7, drawings: 0.3}, samples: 1000"), 1000u);
  photos += ", split: {train: 0.9}, part: train, limit: 50%";
  EXPECT_EQ(size("mix: {photos: 0.7, drawings: 0.3}"), 65u);
  EXPECT_EQ(size("mix: {photos: 0.7, drawings: 0.3}, samples: 1000", SampleLimit(8)), 8u);
}

TEST_F(MixedGraph, SaysWhatItDraws) {
  photos += ", skip: 30";
  const auto result = planned("shuffle: true, mix: {photos: 3, drawings: 1}, samples: 1000");
  EXPECT_EQ(result.sources.at(0).mixed,
            "25% from drawings (250, each 12.5 times), 75% from photos (750, each 10.71 times)");
}

TEST_F(MixedGraph, IsWrittenAsItWasRead) {
  photos += ", weights: w.txt, skip: 7";
  std::string weights;
  for (int i = 0; i < 100; ++i) weights += "1\n";
  folder.write("w.txt", weights);
  const auto first = planned("shuffle: true, mix: {photos: 0.7, drawings: 0.3}, samples: 50",
                             "  other: {consumer: count, from: drawings}\n");
  ASSERT_EQ(first.messages, "");
  const std::string yaml = effective_yaml(*first.loaded.graph);
  EXPECT_THAT(yaml, HasSubstr("mix:\n      drawings: 0.3\n      photos: 0.7\n"));
  const auto again = plan_files({{folder.write("again.yaml", yaml)}, {}, {}}, types);
  ASSERT_EQ(again.messages, "");
  EXPECT_EQ(effective_yaml(*again.loaded.graph), yaml);
  EXPECT_EQ(again.plan->stages, first.plan->stages);
}

}  // namespace
}  // namespace brigade
