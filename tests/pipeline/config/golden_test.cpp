// Every message of the language, word for word: tests/golden/config/NAME.yaml is a graph with
// mistakes, NAME.txt what the user reads. NAME.over.yaml is laid over it as a second file. The
// first lines of a graph may be directives of this test: `#! --set KEY=VALUE`, `#! env NAME=VALUE`.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/text.h"
#include "tests/support/golden.h"
#include "tests/support/load_text.h"

namespace brigade {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(BRIGADE_SOURCE_DIR) / "tests" / "golden" / "config";

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".yaml") && !name.ends_with(".over.yaml"))
      names.push_back(name.substr(0, name.size() - 5));
  }
  std::sort(names.begin(), names.end());
  return names;
}

void apply_directives(const std::string& text, LoadText& load) {
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with("#! ")) return;
    if (const auto set = strip_prefix(line, "#! --set ")) load.sets.emplace_back(*set);
    if (const auto variable = strip_prefix(line, "#! env ")) {
      const std::size_t equals = variable->find('=');
      load.environment[std::string(variable->substr(0, equals))] = variable->substr(equals + 1);
    }
  }
}

std::string messages(const std::string& name) {
  LoadText load;
  std::vector<SourceFile> texts;
  for (const std::string& file : {name + ".yaml", name + ".over.yaml"}) {
    if (!fs::exists(kFolder / file)) continue;
    texts.push_back({file, read(kFolder / file), "/graphs"});
    apply_directives(texts.back().text, load);
  }
  return load.files(std::move(texts)).messages();
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, MessagesAreWordForWord) {
  const std::string text = messages(GetParam());
  EXPECT_FALSE(text.empty()) << "a graph without mistakes teaches nothing here";
  expect_golden("config/" + GetParam() + ".txt", text);
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(golden_names()), [](const auto& file) {
  std::string name = file.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); },
      '_');
  return name;
});

// No file is left behind when a graph goes.
TEST(GoldenFolder, EveryTextHasItsGraph) {
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    fs::path graph = entry.path();
    if (graph.extension() != ".txt") continue;
    EXPECT_TRUE(fs::exists(graph.replace_extension(".yaml"))) << entry.path();
  }
}

TEST(GoldenFolder, HasManyRules) { EXPECT_GE(golden_names().size(), 60u); }

}  // namespace
}  // namespace brigade
