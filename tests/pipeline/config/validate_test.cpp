#include "pipeline/config/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/config/validation.h"
#include "tests/support/load_text.h"

namespace brigade {
namespace {

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
  for (std::size_t i = 1; i < stages.size(); ++i)
    EXPECT_EQ(stages[i].sources.at(0).stage, static_cast<int>(i) - 1);
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

}  // namespace
}  // namespace brigade
