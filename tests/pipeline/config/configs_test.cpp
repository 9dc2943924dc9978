// Every graph in configs/ is sound, with the program's own stage types. The data sets need not be
// there: their headers are written down here.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "pipeline/config/effective_yaml.h"
#include "pipeline/config/load_graph.h"
#include "stages/builtin.h"
#include "tests/support/fake_facts.h"
#include "tests/support/idx_files.h"

namespace brigade {
namespace {

namespace fs = std::filesystem;

const fs::path kConfigs = fs::path(BRIGADE_SOURCE_DIR) / "configs";

FakeFacts data_sets() {
  using testing_support::idx_header;
  FakeFacts facts;
  const std::string folder = "/usr/share/datasets/fashion-mnist/";
  for (const auto& [name, count] : {std::pair{"train", 60'000u}, std::pair{"t10k", 10'000u}}) {
    facts.file(folder + name + "-images-idx3-ubyte.gz", idx_header(8, {count, 28, 28}));
    facts.file(folder + name + "-labels-idx1-ubyte.gz", idx_header(8, {count}));
  }
  return facts;
}

std::vector<std::string> config_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kConfigs))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

LoadedGraph load(std::vector<SourceFile> texts, const StageTypes& types, FakeFacts& facts) {
  return load_graph(std::move(texts), {.files = {},
                                       .sets = {},
                                       .limit = {},
                                       .types = types,
                                       .facts = facts,
                                       .environment = {},
                                       .working_directory = kConfigs.string()});
}

class Configs : public testing::TestWithParam<std::string> {};

TEST_P(Configs, AreSoundAndComeBackFromTheirEffectiveForm) {
  const StageTypes types = builtin_stage_types();
  FakeFacts facts = data_sets();
  std::ifstream file(kConfigs / (GetParam() + ".yaml"));
  std::ostringstream text;
  text << file.rdbuf();
  const auto loaded = load({{GetParam() + ".yaml", text.str(), kConfigs.string()}}, types, facts);
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  EXPECT_EQ(loaded.messages(), "") << "no warnings in what people copy";
  const std::string effective = effective_yaml(*loaded.graph);
  const auto again = load({{"again.yaml", effective, "/"}}, types, facts);
  ASSERT_TRUE(again.graph) << again.messages() << effective;
  EXPECT_EQ(effective_yaml(*again.graph), effective);
}

INSTANTIATE_TEST_SUITE_P(Files, Configs, testing::ValuesIn(config_names()),
                         [](const auto& file) { return file.param; });

}  // namespace
}  // namespace brigade
