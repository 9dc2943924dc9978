#include "pipeline/config/validate/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/config/validate/draft.h"
#include "tests/support/config/load_text.h"

namespace brigade {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Validate, FillsInTheTopLevelsDefaults) {
  const auto loaded = LoadText()(with_stages("  show: {consumer: show, from: images}\n"));
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  const ValidGraph& graph = *loaded.graph;
  EXPECT_EQ(graph.name, "g") << "the file's name without its ending";
  EXPECT_EQ(graph.files, std::vector<std::string>{"g.yaml"});
  EXPECT_EQ(graph.seed, 0u);
  EXPECT_EQ(graph.epochs, 1u);
  EXPECT_EQ(graph.drain_ns, 10'000'000'000);
  EXPECT_EQ(graph.memory_bytes_max, 0u);
  EXPECT_FALSE(graph.oversubscribe);
  EXPECT_EQ(graph.checkpoint_file, "");
}

TEST(Validate, SourcesStandBeforeReaders) {
  const auto loaded = LoadText()(
      "stages:\n"
      "  show: {consumer: show, from: c}\n"
      "  c: {transform: passthrough, from: b}\n"
      "  b: {transform: passthrough, from: a}\n"
      "  a: {producer: synthetic}\n");
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  const auto& stages = loaded.graph->stages;
  ASSERT_EQ(stages.size(), 4u);
  EXPECT_EQ(stages[0].name, "a");
  EXPECT_EQ(stages[3].name, "show");
  for (const StageNumber i : stages.numbers(1))
    EXPECT_EQ(stages[i].sources.at(0).stage, i.value() - 1);
}

TEST(Validate, MarksPointIntoTheFilesAndSettingsHaveNone) {
  LoadText load;
  load.sets = {"stages.show={consumer: show, from: images}"};
  const auto loaded = load(with_stages(""));
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  EXPECT_EQ(loaded.graph->stages[0].mark, (SourceMark{0, 2, 3}));
  EXPECT_EQ(loaded.graph->stages[1].mark.file, -1);
  EXPECT_EQ(loaded.graph->files.size(), 1u);
}

TEST(Validate, TheCheckpointsPathBecomesAbsolute) {
  const auto loaded = LoadText()("checkpoint: {file: ./best.pt}\n" +
                                 with_stages("  show: {consumer: show, from: images}\n"));
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  EXPECT_EQ(loaded.graph->checkpoint_file, "/graphs/best.pt");
}

TEST(Validate, ListsAreCutForMessages) {
  EXPECT_EQ(name_list({"a", "b"}), "a and b");
  EXPECT_EQ(name_list({"a", "b", "c"}, 2), "a, b, ... (3 in all)");
}

TEST(ValidateTypes, AnUnknownTypeDragsNoOtherMistakeBehindIt) {
  const std::string messages =
      messages_of(with_stages("  a: {transform: nothing, from: images, params: {x: 1}}\n"
                              "  train: {consumer: torch_classifier, from: a}\n"));
  EXPECT_THAT(messages, HasSubstr("unknown transform \"nothing\""));
  EXPECT_THAT(messages, Not(HasSubstr("parameter")));
  EXPECT_THAT(messages, Not(HasSubstr("needs the tensor")));
}

constexpr const char* kTwo = "stages:\n  a: {producer: synthetic}\n  b: {producer: synthetic}\n";

TEST(ValidateSources, PortsAreCalledLikeTheStagesUnlessTheyAreNamed) {
  const auto list =
      LoadText()(std::string(kTwo) + "  c: {consumer: count, from: [a, b], join: zip}\n");
  ASSERT_TRUE(list.graph) << list.messages();
  EXPECT_EQ(list.graph->stages[2].sources[1].port, "b");
  EXPECT_EQ(list.graph->stages[2].join, Join::zip);
  const auto map =
      LoadText()(std::string(kTwo) + "  c: {consumer: count, from: {x: a, y: b}, join: epochs}\n");
  ASSERT_TRUE(map.graph) << map.messages();
  EXPECT_EQ(map.graph->stages[2].sources[1].port, "y");
  EXPECT_EQ(map.graph->stages[2].join, Join::epochs);
}

TEST(ValidateSources, OneStageMayFeedSeveral) {
  EXPECT_EQ(messages_of(with_stages("  a: {consumer: show, from: images}\n"
                                    "  b: {consumer: show, from: images}\n")),
            "");
}

TEST(ValidateSources, TwoTensorsOfOneStageMayBeZippedUnderNames) {
  EXPECT_EQ(messages_of(with_stages("  a: {consumer: count, from: {x: images.image, "
                                    "y: images.label}, join: zip}\n")),
            "");
}

TEST(ValidateOrder, ALongLineIsSorted) {
  std::string text = "stages:\n  show: {consumer: show, from: s200}\n";
  for (int i = 200; i > 0; --i)
    text += "  s" + std::to_string(i) + ": {transform: passthrough, from: s" +
            std::to_string(i - 1) + "}\n";
  const auto loaded = LoadText()(text + "  s0: {producer: synthetic}\n");
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  EXPECT_EQ(loaded.graph->stages.front().name, "s0");
  EXPECT_EQ(loaded.graph->stages.back().name, "show");
}

}  // namespace
}  // namespace brigade
