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

using testing::AllOf;
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
  std::string messages(const std::string& keys, const std::string& more = "") {
    return planned(concat("shuffle: true, ", keys), more).messages;
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

TEST_F(MixedGraph, WithSharesThatCannotBeIsRefused) {
  EXPECT_THAT(messages("mix: {photos: -1, drawings: 1}"),
              HasSubstr("share of \"photos\": a weight is not negative, found -1"));
  EXPECT_THAT(messages("mix: {photos: nan, drawings: 1}"), HasSubstr("found nan"));
  EXPECT_THAT(messages("mix: {photos: 0, drawings: 0}"), HasSubstr("all are 0"));
  EXPECT_THAT(messages("mix: {photos: much}"), HasSubstr("expected a number such as 2.5"));
  EXPECT_THAT(messages("mix: [photos, drawings]"), HasSubstr("expected a mapping STAGE: NUMBER"));
  EXPECT_THAT(messages("mix: {}"), HasSubstr("expected a mapping STAGE: NUMBER"));
  EXPECT_EQ(messages("mix: {photos: 0, drawings: 1}", "  other: {consumer: count, from: photos}\n"),
            "");
}

TEST_F(MixedGraph, OfWhatNothingCanBeDrawnFromIsRefused) {
  EXPECT_THAT(messages("mix: {photo: 1, drawings: 1}"),
              AllOf(HasSubstr("there is no stage \"photo\" to draw from"),
                    HasSubstr("did you mean \"photos\"?")));
  EXPECT_THAT(messages("mix: {images: 1, drawings: 1}"), HasSubstr("draws from itself"));
  EXPECT_THAT(messages("mix: {photos: 1, more: 1}",
                       "  more: {transform: passthrough, from: drawings}\n"
                       "  end: {consumer: count, from: more}\n"),
              HasSubstr("\"more\" is a transform: `mix:` draws from producers"));
  EXPECT_THAT(
      messages("mix: {photos: 1, more: 1}", "  more: {mix: {drawings: 1}, shuffle: true}\n"),
      HasSubstr("\"more\" is a mixture itself"));
  EXPECT_THAT(messages("mix: {photos: 1, drawings: 1, more: 1}",
                       "  more: {producer: lines, params: {file: g.yaml}}\n"),
              HasSubstr("\"more\" is a stream"));
  EXPECT_THAT(messages("mix: {photos: 1, drawings: 1, more: 1}",
                       "  more: {exec: /bin/true, count: 3, tensors: {data: {dtype: u8, shape: "
                       "[4]}}}\n"),
              HasSubstr("\"more\" is a program of its own"));
}

TEST_F(MixedGraph, OfOtherTensorsIsRefused) {
  drawings = "producer: synthetic, params: {count: 20, shape: [5]}";
  EXPECT_THAT(messages("mix: {photos: 1, drawings: 1}"),
              AllOf(HasSubstr("`mix:` needs the same tensors from each: \"drawings\" gives data "),
                    HasSubstr(", \"photos\" gives data ")));
  drawings = "producer: synthetic, params: {count: 20, shape: [4], name: other}";
  EXPECT_THAT(messages("mix: {photos: 1, drawings: 1}"), HasSubstr("needs the same tensors"));
}

TEST_F(MixedGraph, OfOtherClassesIsRefused) {
  for (const char* name : {"a/cat/1.jpg", "a/dog/1.jpg", "b/cat/1.jpg", "b/emu/1.jpg"})
    folder.write(name, "");
  photos = "producer: image_folder, params: {root: a}";
  drawings = "producer: image_folder, params: {root: b}";
  EXPECT_THAT(messages("mix: {photos: 1, drawings: 1}"),
              AllOf(HasSubstr("the labels of \"photos\" are of other classes than those of "
                              "\"drawings\""),
                    HasSubstr("emu"), HasSubstr("dog")));
  drawings = "producer: image_folder, params: {root: a}, limit: 1";
  EXPECT_EQ(messages("mix: {photos: 1, drawings: 1}"), "");
}

TEST_F(MixedGraph, HasItsKeysAndItsPartsHaveTheirs) {
  EXPECT_THAT(messages("mix: {photos: 1, drawings: 1}, skip: 3"),
              HasSubstr("`skip` belongs to the producers that `mix:` names"));
  EXPECT_THAT(messages("mix: {photos: 1, drawings: 1}, producer: synthetic"),
              HasSubstr("says both `mix:` and `producer:`"));
  EXPECT_THAT(messages("mix: {photos: 1, drawings: 1}, from: photos"),
              HasSubstr("`from` is for transforms and consumers"));
  photos += ", shuffle: true";
  const std::string mix = "mix: {photos: 1, drawings: 1}";
  EXPECT_THAT(messages(mix), HasSubstr("`shuffle` has no effect: \"images\" draws from it"));
  EXPECT_EQ(messages(mix, "  other: {consumer: count, from: photos}\n"), "") << "there it has one";
}

TEST_F(MixedGraph, WithoutShuffleMixesNothing) {
  EXPECT_THAT(planned("mix: {photos: 1, drawings: 1}").messages,
              HasSubstr("warning: stage \"images\": without `shuffle: true` nothing is mixed"));
}

TEST_F(MixedGraph, BelowACacheOrZippedIsRefused) {
  EXPECT_THAT(messages("mix: {photos: 1, drawings: 1}",
                       "  kept: {transform: cache, from: images}\n"
                       "  end: {consumer: count, from: kept}\n"),
              HasSubstr("a cache keeps one epoch for all"));
  EXPECT_THAT(messages("mix: {photos: 1, drawings: 1}",
                       "  end: {consumer: count, from: [images, photos], join: zip}\n"),
              HasSubstr("zipped sources cannot draw their samples by `mix:`"));
}

}  // namespace
}  // namespace brigade
