// Trees that are expanded, merged and set: tests/golden/yaml/trees.txt. `> expand YAML` knows HOME,
// EMPTY and ODD of an environment and says which values do not belong to the file's folder; `>
// merge YAML | YAML` and `> set YAML | KEY=VALUE` change the first tree.

#include "pipeline/config/yaml/variables.h"
#include "pipeline/config/yaml/merge.h"

#include <gtest/gtest.h>

#include "pipeline/config/yaml/yaml_reader.h"
#include "pipeline/config/yaml/yaml_writer.h"
#include "tests/support/word_for_word.h"

namespace brigade {
namespace {

struct Trees {
  std::string answer(std::string_view line) {
    source = {};
    diagnostics = {};
    const auto [verb, rest] = parted(line, " ");
    const auto [first, second] = parted(rest, " | ");
    YamlNode root = read(unescaped(verb == "expand" ? rest : first));
    if (verb == "expand")
      expand_variables(root, environment, source, diagnostics);
    else if (verb == "merge")
      merge_tree(root, read(unescaped(second)));
    else if (verb == "set")
      apply_setting(source, source.add({"--set", unescaped(second), "/", true}), root, diagnostics);
    else
      return unknown_command(line);
    return diagnostics.ok() ? write_yaml(root) + origins(root) : diagnostics.render(source);
  }
  YamlNode read(const std::string& text) {
    auto root = read_yaml(source, source.add({"g.yaml", text, "/"}), diagnostics);
    EXPECT_TRUE(root) << text;
    return root ? *root : YamlNode();
  }
  static std::optional<std::string> environment(const std::string& name) {
    if (name == "HOME") return "/home/anna";
    if (name == "EMPTY") return "";
    if (name == "ODD") return "${HOME}: {b: 1}";
    return std::nullopt;
  }
  static std::string origins(const YamlNode& root) {
    std::string text;
    for (const YamlEntry& entry : root.entries) {
      const YamlNode& value = entry.value.is_list() ? entry.value.items.at(0) : entry.value;
      if (value.is_scalar() && value.origin < 0)
        text += concat("(", entry.key, " is of the working directory)\n");
    }
    return text;
  }

  SourceText source;
  Diagnostics diagnostics;
};

TEST(Trees, AreChangedWordForWord) { expect_session<Trees>("yaml/trees.txt"); }

TEST(Trees, ThatAreSetDeepOrNestVariablesOrMultiplyThemAreRefused) {
  std::string deep = "set b: 1 | a";
  for (int i = 0; i < 1000; ++i) deep += ".a";
  EXPECT_NE(Trees().answer(deep + "=1").find("levels deep"), std::string::npos);
  std::string nested = "expand a: ${v99}\\nvars:\\n  v0: x\\n";
  std::string multiplied = "expand a: ${v11}\\nvars:\\n  v0: xxxxxxxxxx\\n";
  for (int i = 1; i < 100; ++i) nested += concat("  v", i, ": ${v", i - 1, "}\\n");
  for (int i = 1; i < 12; ++i)
    multiplied += concat("  v", i, ": \"\\{10:${v", i - 1, "\\x7d}\"\\n");
  EXPECT_NE(Trees().answer(nested).find("variables are nested more than 16 deep"),
            std::string::npos);
  EXPECT_NE(Trees().answer(multiplied).find("the variables expand each other"), std::string::npos);
}

}  // namespace
}  // namespace brigade
