#include "pipeline/plan/planner/zipped_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/plan/planner/planner.h"
#include "tests/support/graph_builder.h"
#include "tests/support/plan_limits.h"

namespace brigade {
namespace {

using testing::HasSubstr;

const Ports kPixel{{"x", u8, {8}}};

/// images and masks, zipped by `end`; sizes of 0 are not known.
GraphBuilder zipped_pair(std::uint64_t images = 0, std::uint64_t masks = 0) {
  GraphBuilder graph;
  graph.producer("images", kPixel).samples = images;
  graph.producer("masks", kPixel).samples = masks;
  graph.consumer("end", {"images", "masks"}, Join::zip);
  return graph;
}

std::string problem_of_zip(GraphBuilder& graph) {
  const PlanResult result = plan_graph(graph.build(), small_machine());
  return result.ok() ? "" : result.problems.front().message;
}

const Split kNineTenths{{{"train", kWholeShare / 10 * 9}}, 1};

TEST(ZippedSources, AreReadAlike) {
  using Change = void (*)(ValidStage&);
  const Change changes[] = {
      [](ValidStage& stage) { stage.limit = 10, stage.skip = 3; },
      [](ValidStage& stage) { stage.limit = 10; },
      [](ValidStage& stage) { stage.split = kNineTenths, stage.part = "train"; },
  };
  for (const Change change : changes) {
    GraphBuilder one = zipped_pair();
    change(one.stage("masks"));
    EXPECT_THAT(problem_of_zip(one),
                HasSubstr("\"images\" and \"masks\" choose them in different ways"));
    GraphBuilder both = zipped_pair(100, 100);
    change(both.stage("images"));
    change(both.stage("masks"));
    EXPECT_EQ(problem_of_zip(both), "");
  }
}

TEST(ZippedSources, DifferInPartsSeedsAndLimits) {
  const auto pair = [](auto change) {
    GraphBuilder graph = zipped_pair();
    for (const char* name : {"images", "masks"}) {
      graph.stage(name).split = kNineTenths;
      graph.stage(name).part = "train";
      graph.stage(name).limit = 10;
    }
    change(graph.stage("masks"));
    return problem_of_zip(graph);
  };
  EXPECT_EQ(pair([](ValidStage&) {}), "");
  EXPECT_NE(pair([](ValidStage& masks) { masks.part = "val"; }), "");
  EXPECT_NE(pair([](ValidStage& masks) { masks.split.seed = 2; }), "");
  EXPECT_NE(pair([](ValidStage& masks) { masks.seed = 2; }), "");
  EXPECT_NE(pair([](ValidStage& masks) { masks.limit = 11; }), "");
  EXPECT_NE(pair([](ValidStage& masks) { masks.take = Take::first; }), "");
}

TEST(ZippedSources, MayDifferInHowMuchOfTheFrontIsRead) {
  GraphBuilder graph = zipped_pair(100, 110);
  graph.stage("masks").limit = 100;
  EXPECT_NE(problem_of_zip(graph), "");
  graph.stage("masks").take = Take::first;
  EXPECT_EQ(problem_of_zip(graph), "");
  GraphBuilder behind = zipped_pair(100, 110);
  behind.stage("masks").skip = 10;
  EXPECT_EQ(problem_of_zip(behind), "");
}

TEST(ZippedSources, AreChosenFromBehindWhatIsSkipped) {
  const auto problem = [](std::uint64_t masks, auto change) {
    GraphBuilder graph = zipped_pair(100, masks);
    graph.stage("masks").skip = 1;
    change(graph.stage("images"));
    change(graph.stage("masks"));
    return problem_of_zip(graph);
  };
  const auto ten = [](ValidStage& stage) { stage.limit = 10; };
  EXPECT_EQ(problem(101, ten), "");
  EXPECT_EQ(problem(0, ten), "");
  EXPECT_EQ(
      problem(101, [](ValidStage& stage) { stage.split = kNineTenths, stage.part = "train"; }), "");
  EXPECT_THAT(problem(100, ten), HasSubstr("have 100 samples and 99 samples to choose from"));
}

TEST(ZippedSources, ALimitThatTakesAllChoosesNothing) {
  const auto problem = [](std::uint64_t images, std::uint64_t masks, std::uint64_t limit) {
    GraphBuilder graph = zipped_pair(images, masks);
    graph.stage("masks").limit = limit;
    return problem_of_zip(graph);
  };
  EXPECT_EQ(problem(100, 100, 100), "");
  EXPECT_NE(problem(100, 101, 100), "");
  EXPECT_NE(problem(0, 100, 100), "");
  GraphBuilder share = zipped_pair(100, 100);
  share.stage("images").limit = 10;
  share.stage("masks").limit.share = kWholeShare / 10;
  EXPECT_EQ(problem_of_zip(share), "") << "10 and 10% of 100";
}

TEST(ZippedSources, HelpNamesTheOneThatLacksTakeFirst) {
  const auto help = [](auto change) {
    GraphBuilder graph = zipped_pair(110, 100);
    for (const char* name : {"images", "masks"}) graph.stage(name).limit = 10;
    change(graph.stage("images"));
    return plan_graph(graph.build(), small_machine()).problems.front().help;
  };
  EXPECT_THAT(help([](ValidStage& images) { images.take = Take::first; }),
              HasSubstr("write `take: first` at both (`--set stages.masks.take=first`)"));
  EXPECT_THAT(help([](ValidStage& images) { images.seed = 2; }), HasSubstr("`seed:` at each"));
}

TEST(ZippedSources, ThatFindDifferentlyManyCannotBeDivided) {
  GraphBuilder graph = zipped_pair(100, 110);
  graph.stage("images").limit = 50;
  graph.stage("masks").limit = 50;
  EXPECT_THAT(problem_of_zip(graph), HasSubstr("have 100 samples and 110 samples to choose from"));
}

TEST(ZippedSources, ACacheLiesAsWhatIsAboveIt) {
  const auto graph_of = [](bool cached_part, bool read_part) {
    GraphBuilder graph;
    ValidStage& images = graph.producer("images", kPixel);
    images.samples = 100;
    if (cached_part) images.limit = 50;
    graph.transform("kept", {"images"}, kPixel).samples = 100;
    graph.type_of("kept").contract.cache = true;
    ValidStage& masks = graph.producer("masks", kPixel);
    masks.samples = 100;
    if (read_part) masks.limit = 50;
    graph.consumer("end", {"kept", "masks"}, Join::zip);
    return problem_of_zip(graph);
  };
  EXPECT_EQ(graph_of(true, true), "");
  EXPECT_EQ(graph_of(false, false), "");
  EXPECT_NE(graph_of(false, true), "");
  EXPECT_NE(graph_of(true, false), "");
}

TEST(ZippedSources, ShuffledApartAreWarnedOf) {
  const auto warnings_with = [](auto change) {
    GraphBuilder graph = zipped_pair(100, 100);
    change(graph.stage("images"), graph.stage("masks"));
    const PlanResult result = plan_graph(graph.build(), small_machine());
    EXPECT_TRUE(result.ok());
    std::string all;
    for (const std::string& warning : result.plan.warnings)
      if (warning.starts_with("zipped")) all += warning;
    return all;
  };
  EXPECT_EQ(warnings_with([](auto&, auto&) {}), "");
  EXPECT_EQ(warnings_with([](auto& a, auto& b) { a.shuffle = b.shuffle = true; }), "");
  EXPECT_EQ(warnings_with([](auto& a, auto& b) { a.seed = 1, b.seed = 2; }), "") << "in order";
  EXPECT_EQ(warnings_with([](auto&, auto& b) { b.shuffle = true; }),
            "zipped sources in different orders: \"masks\" is shuffled, \"images\" is not, so that "
            "samples meet which need not belong together; the same `shuffle:` and `seed:` at each "
            "keeps them together");
  EXPECT_THAT(warnings_with([](auto& a, auto& b) {
                a.shuffle = b.shuffle = true;
                b.seed = 2;
              }),
              HasSubstr("\"images\" and \"masks\" are shuffled by different seeds"));
}

}  // namespace
}  // namespace brigade
