#include "pipeline/config/yaml/variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/support/config/reads_yaml.h"

namespace brigade {
namespace {

using testing::HasSubstr;

class Variables : public ReadsYaml {
 protected:
  YamlNode expand(std::string text) {
    YamlNode root = read(std::move(text));
    expand_variables(
        root,
        [this](const std::string& name) -> std::optional<std::string> {
          const auto found = environment_.find(name);
          if (found == environment_.end()) return std::nullopt;
          return found->second;
        },
        source_, diagnostics_);
    return root;
  }
  std::string value(std::string text) {
    YamlNode root = expand(std::move(text));
    return root.find("a")->value.text;
  }

  std::map<std::string, std::string> environment_{{"HOME", "/home/anna"}, {"EMPTY", ""}};
};

TEST_F(Variables, AVariableComesBeforeTheEnvironment) {
  EXPECT_EQ(value("vars: {x: 1}\na: ${x}-${HOME}\n"), "1-/home/anna");
  EXPECT_EQ(value("vars: {HOME: here}\na: ${HOME}\n"), "here");
}

TEST_F(Variables, DefaultsHoldWhereThereIsNothing) {
  EXPECT_EQ(value("a: ${NONE:-x}\n"), "x");
  EXPECT_EQ(value("a: ${EMPTY:-x}\n"), "x");
  EXPECT_EQ(value("a: ${EMPTY}y\n"), "y");
  EXPECT_EQ(value("a: ${NONE:-${HOME}/b}\n"), "/home/anna/b");
  EXPECT_EQ(value("a: ${NONE:-}\n"), "");
  EXPECT_TRUE(diagnostics_.ok()) << messages();
}

TEST_F(Variables, TwoDollarsAreOne) { EXPECT_EQ(value("a: $$x$$${HOME}\n"), "$x$/home/anna"); }

TEST_F(Variables, VariablesMayUseVariables) {
  EXPECT_EQ(value("vars: {x: \"${y}/1\", y: \"${HOME}\"}\na: ${x}\n"), "/home/anna/1");
}

TEST_F(Variables, WhatAVariableHoldsIsNotReadAgain) {
  environment_["X"] = "${HOME}: {b: 1}";
  EXPECT_EQ(value("a: ${X}\n"), "${HOME}: {b: 1}");
}

TEST_F(Variables, KeysAndExtensionsStayAsTheyAre) {
  const YamlNode root = expand("x-a: ${NONE}\n\"${HOME}\": 1\n");
  EXPECT_TRUE(diagnostics_.ok());
  EXPECT_NE(root.find("${HOME}"), nullptr);
}

TEST_F(Variables, TheOriginIsThatOfTheBeginning) {
  const YamlNode root =
      expand("vars: {x: data}\na: ${x}/1\nb: ${HOME}/1\nc: 1/${HOME}\nd: ${NONE:-q}\ne: $$\n");
  EXPECT_EQ(root.find("a")->value.origin, 0);
  EXPECT_EQ(root.find("b")->value.origin, -1);
  EXPECT_EQ(root.find("c")->value.origin, 0);
  EXPECT_EQ(root.find("d")->value.origin, 0);
  EXPECT_EQ(root.find("e")->value.origin, 0);
}

TEST_F(Variables, ADeepFusedIsRefused) {
  std::string text = "a: ${v99}\nvars:\n";
  for (int i = 99; i > 0; --i)
    text += "  v" + std::to_string(i) + ": ${v" + std::to_string(i - 1) + "}\n";
  expand(text + "  v0: x\n");
  EXPECT_THAT(messages(), HasSubstr("variables are nested more than 16 deep"));
}

TEST_F(Variables, ThatMultiplyThemselvesAreRefused) {
  std::string text = "vars:\n  v0: xxxxxxxxxx\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "${v" + std::to_string(i - 1) + "}";
    text += "  v" + std::to_string(i) + ": \"";
    for (int k = 0; k < 10; ++k) text += before;
    text += "\"\n";
  }
  expand(text + "a: ${v11}\n");
  EXPECT_THAT(messages(), HasSubstr("the variables expand each other"));
}

}  // namespace
}  // namespace brigade
