#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/config/graph/effective_yaml.h"
#include "tests/support/config/load_text.h"

namespace brigade {
namespace {

using testing::HasSubstr;

std::string line(const std::string& middle) {
  return "stages:\n  numbers: {producer: synthetic}\n  a: {from: numbers, " + middle +
         "}\n  end: {consumer: show, from: a}\n";
}

TEST(ValidatePlugins, TheTypeIsThePluginsAndLivesWithTheGraph) {
  std::optional<ValidGraph> graph;
  {
    LoadText load;
    graph = load(line("transform: jitter, plugin: /plugins/jitter.so")).graph;
  }
  ASSERT_TRUE(graph);
  const ValidStage& stage = graph->stages[1];
  ASSERT_EQ(graph->plugins.size(), 1u);
  EXPECT_EQ(stage.type, graph->plugins[0].types->find("jitter"));
  EXPECT_EQ(stage.type->contract.help, "Adds noise.");
  EXPECT_EQ(stage.plugin, "/plugins/jitter.so");
}

TEST(ValidatePlugins, PathsAreRelativeToTheTextThatSaysThem) {
  LoadText load;
  load.metadata.kind("/graphs/mine/jitter.so", PathKind::file);
  load.metadata.kind("/home/anna/other.so", PathKind::file);
  load.plugins.has("/graphs/mine/jitter.so", load.plugins.read("/plugins/jitter.so").value());
  load.plugins.has("/home/anna/other.so", load.plugins.read("/plugins/jitter.so").value());
  const std::string text = line("transform: jitter, plugin: mine/jitter.so");
  EXPECT_EQ(load(text).graph->stages[1].plugin, "/graphs/mine/jitter.so");
  load.sets = {"stages.a.plugin=other.so"};
  EXPECT_EQ(load(text).graph->stages[1].plugin, "/home/anna/other.so");
}

TEST(ValidatePlugins, OneThatSeveralStagesNameIsReadOnce) {
  LoadText load;
  const auto loaded = load(
      "stages:\n  numbers: {producer: synthetic}\n"
      "  a: {transform: jitter, plugin: /plugins/jitter.so, from: numbers}\n"
      "  b: {transform: shake, plugin: /plugins/jitter.so, from: a}\n"
      "  end: {consumer: show, from: b}\n");
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  EXPECT_EQ(load.plugins.reads, 1);
  EXPECT_EQ(loaded.graph->plugins.size(), 1u);
}

TEST(ValidatePlugins, AFusedMixesTypesOfThePluginAndTheProgram) {
  const auto loaded = LoadText()(
      line("transform: [passthrough, {jitter: {amplitude: 2}}], plugin: /plugins/jitter.so"));
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  const auto& links = loaded.graph->stages[1].type->links;
  EXPECT_EQ(links[0], fake_stage_types().find("passthrough"));
  EXPECT_EQ(links[1], loaded.graph->plugins[0].types->find("jitter"));
}

TEST(ValidatePlugins, WithoutAReaderAGraphThatNamesOneIsRefused) {
  LoadText load;
  const auto loaded =
      load_graph({{"g.yaml", line("transform: x, plugin: /plugins/jitter.so"), "/"}},
                 {.files = {},
                  .sets = {},
                  .limit = {},
                  .types = fake_stage_types(),
                  .metadata = load.metadata,
                  .environment = {},
                  .working_directory = "/"});
  EXPECT_THAT(loaded.messages(), HasSubstr("cannot be opened here"));
}

}  // namespace
}  // namespace brigade
