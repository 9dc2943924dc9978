// Every graph in configs/ is sound, with the program's own stage types, and together they show the
// whole language that is built: a key or a value without a graph is missed here.

#include <gtest/gtest.h>

#include <set>

#include <brigade/text.h>
#include "pipeline/config/graph/effective_yaml.h"
#include "pipeline/config/language/key_table.h"
#include "pipeline/config/language/key_text.h"
#include "stages/builtin.h"
#include "tests/support/config/config_files.h"

namespace brigade {
namespace {

class Configs : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(Configs, AreSoundAndComeBackFromTheirEffectiveForm) {
  const StageTypes types = builtin_stage_types();
  const auto loaded = load_config(GetParam(), types);
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  EXPECT_EQ(loaded.messages(), "") << "no warnings in what people copy";
  const std::string effective = effective_yaml(*loaded.graph);
  const auto again = load_texts({{"again.yaml", effective, "/"}}, types);
  ASSERT_TRUE(again.graph) << again.messages() << effective;
  EXPECT_EQ(effective_yaml(*again.graph), effective);
}

TEST_P(Configs, SayWhatTheyShowAndHowToRunThem) {
  const std::string text = file_text(config_folder() / GetParam().back());
  EXPECT_EQ(text.substr(0, 2), "# ");
  if (GetParam().size() > 1) return;
  EXPECT_NE(text.find("brigade run configs/" + GetParam().back()), text.npos);
}

INSTANTIATE_TEST_SUITE_P(Files, Configs, testing::ValuesIn(config_graphs()),
                         [](const auto& files) { return config_test_name(files.param); });

// "scope.key", and "scope.key: value" for values of the table.
class Shown {
 public:
  void graph(const YamlNode& root) {
    mapping(root, KeyScope::top);
    for (const auto& [key, scope] :
         {std::pair{"checkpoint", KeyScope::checkpoint}, std::pair{"shard", KeyScope::shard}})
      if (const YamlEntry* entry = root.find(key)) mapping(entry->value, scope);
    if (const YamlEntry* tensors = root.find("shared")) shared(tensors->value);
    if (const YamlEntry* stages = root.find("stages"))
      for (const YamlEntry& entry : stages->value.entries) stage(entry.value);
  }

  bool has(KeyScope scope, std::string_view key, std::string_view value = "") const {
    return seen_.contains(name(scope, key, value));
  }

 private:
  static std::string name(KeyScope scope, std::string_view key, std::string_view value) {
    return concat(static_cast<int>(scope), ".", key, ":", value);
  }

  void mapping(const YamlNode& node, KeyScope scope) {
    for (const YamlEntry& entry : node.entries) {
      seen_.insert(name(scope, entry.key, ""));
      seen_.insert(name(scope, entry.key, entry.value.text));
    }
  }

  void source(const YamlNode& node) {
    if (node.find("stage") != nullptr) return mapping(node, KeyScope::source);
    for (const YamlNode& item : node.items) source(item);
    for (const YamlEntry& port : node.entries) source(port.value);
  }

  void shared(const YamlNode& node) {
    for (const YamlEntry& tensor : node.entries) mapping(tensor.value, KeyScope::shared);
  }

  void stage(const YamlNode& node) {
    mapping(node, KeyScope::stage);
    for (const auto& [key, scope] :
         {std::pair{"on_error", KeyScope::on_error}, std::pair{"restart", KeyScope::restart},
          std::pair{"stall_timeout", KeyScope::stall}})
      if (const YamlEntry* entry = node.find(key)) mapping(entry->value, scope);
    if (const YamlEntry* from = node.find("from")) source(from->value);
  }

  std::set<std::string> seen_;
};

TEST(ConfigsFolder, ShowsEveryKeyAndValueThatIsBuilt) {
  const StageTypes types = builtin_stage_types();
  Shown shown;
  for (const auto& files : config_graphs()) shown.graph(load_config(files, types).tree);
  // A plugin must be built first, and a program, so these lie among the examples.
  shown.graph(load_config({"../examples/own_loop/own_loop.yaml"}, types).tree);
  shown.graph(load_config({"../examples/feed_and_collect/feed_and_collect.yaml"}, types).tree);
  shown.graph(load_config({"../examples/own_plugin/own_plugin.yaml"}, types).tree);
  shown.graph(load_config({"../examples/exec_stage/exec_stage.yaml"}, types).tree);
  for (const KeySpec& key : key_table())
    EXPECT_TRUE(shown.has(key.scope, key.name))
        << "no graph in configs/ has the key " << key_path(key) << " " << scope_text(key.scope);
  for (const ValueSpec& value : value_table())
    EXPECT_TRUE(shown.has(value.scope, value.key, value.value))
        << "no graph in configs/ has " << value.key << ": " << value.value;
  EXPECT_FALSE(shown.has(KeyScope::stage, "nonsense")) << "this test can fail";
}

}  // namespace
}  // namespace brigade
