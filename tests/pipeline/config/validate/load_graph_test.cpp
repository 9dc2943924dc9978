#include "pipeline/config/validate/load_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/config/load_text.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class LoadFiles : public testing::Test {
 protected:
  LoadFiles() { fs::create_directories(folder_ / "sub"); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  LoadedGraph load(std::vector<std::string> files, std::vector<std::string> sets = {}) {
    return load_graph({.files = std::move(files),
                       .sets = std::move(sets),
                       .limit = {},
                       .types = fake_stage_types(),
                       .metadata = metadata_,
                       .environment = {},
                       .working_directory = folder_});
  }

  TemporaryFolder temporary_;
  fs::path folder_ = temporary_.path();
  FakeMetadata metadata_ = golden_metadata();
};

const char* const kBaseGraph =
    "stages:\n  a: {producer: synthetic}\n  show: {consumer: show, from: a}\n";

TEST_F(LoadFiles, LaterFilesLieOverEarlierOnes) {
  write("base.yaml", kBaseGraph);
  write("sub/machine.yaml", "seed: 5\nstages: {a: {params: {count: 9}}}\n");
  const auto loaded = load({"base.yaml", "sub/machine.yaml"}, {"epochs=4"});
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  EXPECT_EQ(loaded.graph->seed, 5u);
  EXPECT_EQ(loaded.graph->epochs, 4u);
  EXPECT_EQ(loaded.graph->stages[0].param_values[0].second.text, "9");
  EXPECT_EQ(loaded.graph->files, (std::vector<std::string>{"base.yaml", "sub/machine.yaml"}));
}

TEST_F(LoadFiles, PathsBelongToTheFolderOfTheirFile) {
  metadata_.folder((folder_ / "sub").string());
  write("base.yaml", kBaseGraph);
  write("sub/machine.yaml", "checkpoint: {file: m.pt}\n");
  const auto loaded = load({(folder_ / "base.yaml").string(), "sub/machine.yaml"});
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  EXPECT_EQ(loaded.graph->checkpoint_file, (folder_ / "sub" / "m.pt").string());
}

TEST_F(LoadFiles, SaysOfEveryFileWhyItCannotBeRead) {
  write("base.yaml", kBaseGraph);
  write("empty.yaml", "");
  const auto loaded = load({"base.yaml", "gone.yaml", "sub", "empty.yaml"});
  EXPECT_FALSE(loaded.graph);
  EXPECT_EQ(loaded.messages(),
            "gone.yaml: error: no such file\n"
            "sub: error: is a folder; name the YAML file in it\n"
            "empty.yaml: error: is empty; `brigade init` writes a graph to start from\n"
            "3 errors\n");
}

TEST_F(LoadFiles, NoFileIsAMistake) { EXPECT_FALSE(load({}).graph); }

TEST_F(LoadFiles, SettingsWithControlCharactersAreRefused) {
  write("base.yaml", kBaseGraph);
  EXPECT_FALSE(load({"base.yaml"}, {std::string("name=a\0b", 8)}).graph);
  EXPECT_FALSE(load({"base.yaml"}, {"name=a\nb"}).graph);
  EXPECT_THAT(load({"base.yaml"}, {""}).messages(), HasSubstr("expected KEY=VALUE"));
}

TEST(LoadGraph, TheTreeShowsWhatWasRead) {
  LoadText load;
  load.environment["N"] = "5";
  const auto loaded = load(std::string("vars: {n: \"${N}\"}\nepochs: ${n}\n") + kBaseGraph);
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  EXPECT_EQ(loaded.tree.find("epochs")->value.text, "5");
}

TEST(LoadGraph, TheProcessSaysItsEnvironmentAndFolder) {
  ::setenv("BRIGADE_LOAD_GRAPH_TEST", "x", 1);
  EXPECT_EQ(process_environment()("BRIGADE_LOAD_GRAPH_TEST"), "x");
  ::unsetenv("BRIGADE_LOAD_GRAPH_TEST");
  EXPECT_EQ(process_environment()("BRIGADE_LOAD_GRAPH_TEST"), std::nullopt);
  EXPECT_EQ(process_working_directory(), fs::current_path().string());
}

// The largest graph that is accepted takes milliseconds; this is a hang limit.
TEST(LoadGraph, LargeGraphsAreNoHang) {
  std::string text = "vars:\n";
  for (int i = 0; i < 5000; ++i) text += "  v" + std::to_string(i) + ": x\n";
  text += "stages:\n  s0: {producer: synthetic}\n";
  for (int i = 1; i < 255; ++i)
    text += "  s" + std::to_string(i) + ": {transform: passthrough, from: s" +
            std::to_string(i - 1) + ", env: {A: \"${v" + std::to_string(i) + "}\"}}\n";
  text += "  show: {consumer: show, from: s254}\n";
  const auto start = std::chrono::steady_clock::now();
  const auto loaded = LoadText()(text);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_TRUE(loaded.graph) << loaded.messages();
}

}  // namespace
}  // namespace brigade
