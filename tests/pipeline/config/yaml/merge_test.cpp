#include "pipeline/config/yaml/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/config/yaml/yaml_writer.h"
#include "tests/support/config/reads_yaml.h"

namespace brigade {
namespace {

using testing::HasSubstr;

class Merge : public ReadsYaml {
 protected:
  std::string set(const std::string& base, const std::string& setting) {
    YamlNode root = read(base);
    const int file = source_.add({"--set", setting, "/", true});
    apply_setting(source_, file, root, diagnostics_);
    return write_yaml(root);
  }
  std::string merged(const std::string& base, const std::string& over) {
    YamlNode root = read(base);
    merge_tree(root, read(over));
    return write_yaml(root);
  }
};

TEST_F(Merge, MappingsMergeByKey) {
  EXPECT_EQ(merged("a: {b: 1, c: 2}\nd: 3\n", "a: {c: 4, e: 5}\n"),
            "a:\n  b: 1\n  c: 4\n  e: 5\nd: 3\n");
}

TEST_F(Merge, ListsAndTextsAreReplaced) {
  EXPECT_EQ(merged("a: [1, 2]\nb: {c: 1}\n", "a: [3]\nb: x\n"), "a: [3]\nb: x\n");
}

TEST_F(Merge, NoValueTakesTheKeyAway) {
  EXPECT_EQ(merged("a: {b: 1, c: 2}\n", "a: {b: }\n"), "a:\n  c: 2\n");
}

TEST_F(Merge, NoValueForANewKeyStaysToBeReported) {
  EXPECT_EQ(merged("a: 1\n", "b:\n"), "a: 1\nb: null\n");
}

TEST_F(Merge, ASettingWritesOneValue) {
  EXPECT_EQ(set("a: {b: 1}\n", "a.b=2"), "a:\n  b: 2\n");
  EXPECT_EQ(set("a: {b: 1}\n", "a.c.d=x y"), "a:\n  b: 1\n  c:\n    d: \"x y\"\n");
}

TEST_F(Merge, ASettingsValueIsTextOrAMapping) {
  EXPECT_EQ(set("a: 1\n", "a=*.jpg"), "a: \"*.jpg\"\n");
  EXPECT_EQ(set("a: 1\n", "a=b=c"), "a: \"b=c\"\n");
  EXPECT_EQ(set("a: 1\n", "a={b: [1, 2]}"), "a:\n  b: [1, 2]\n");
  EXPECT_EQ(set("a: 1\n", "a=\"null\""), "a: \"null\"\n");
}

TEST_F(Merge, ASettingWithoutAValueTakesTheKeyAway) {
  EXPECT_EQ(set("a: {b: 1, c: 2}\n", "a.b="), "a:\n  c: 2\n");
}

TEST_F(Merge, ASettingReachesIntoLists) {
  EXPECT_EQ(set("a: [1, 2]\n", "a.1=5"), "a: [1, 5]\n");
  set("a: [1, 2]\n", "a.2=5");
  EXPECT_THAT(messages(), HasSubstr("\"2\" is not in 0 to 1"));
}

TEST_F(Merge, ASettingThatLeadsNowhereIsAMistake) {
  set("a: 1\n", "a.b=2");
  set("a: 1\n", "=2");
  set("a: 1\n", "b");
  set("a: 1\n", "a.=2");
  EXPECT_EQ(diagnostics_.errors(), 4u) << messages();
}

TEST_F(Merge, PathsOfSettingsBelongToTheWorkingDirectory) {
  YamlNode root = read("a: x\n");
  EXPECT_EQ(root.find("a")->value.origin, 0);
  const int file = source_.add({"--set", "a=[y]", "/", true});
  apply_setting(source_, file, root, diagnostics_);
  EXPECT_EQ(root.find("a")->value.items[0].origin, -1);
}

TEST_F(Merge, ManyLevelsAreRefused) {
  std::string path = "a";
  for (int i = 0; i < 1000; ++i) path += ".a";
  set("b: 1\n", path + "=1");
  EXPECT_THAT(messages(), HasSubstr("levels deep"));
}

}  // namespace
}  // namespace brigade
