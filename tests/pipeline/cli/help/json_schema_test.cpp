#include "pipeline/cli/help/json_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "pipeline/config/language/key_table.h"
#include "stages/builtin.h"
#include "stages/detail/exec_stage.h"
#include "tests/support/config/config_files.h"
#include "tests/support/config/json_schema.h"

namespace brigade {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json schema() { return json::parse(language_schema(builtin_stage_types().append(python_types()))); }

TEST(LanguageSchema, HasEveryKeyWithItsHelp) {
  const json all = schema();
  for (const KeySpec& key : key_table()) {
    const std::string definition(scope_name(key.scope));
    const json& place = definition.empty() ? all : all["definitions"][definition];
    const json& property = place["properties"][std::string(key.name)];
    ASSERT_TRUE(property.is_object()) << key.name;
    EXPECT_THAT(property["description"].get<std::string>(), HasSubstr(std::string(key.help)));
  }
}

TEST(LanguageSchema, UnknownKeysAreMistakesButForExtensions) {
  const json all = schema();
  EXPECT_EQ(all["additionalProperties"], false);
  EXPECT_TRUE(all["patternProperties"].contains("^x-"));
  EXPECT_EQ(all["definitions"]["stage"]["additionalProperties"], false);
}

TEST(LanguageSchema, StageTypesAreOffered) {
  const json names = schema()["definitions"]["stage"]["properties"]["producer"]["anyOf"][0]["enum"];
  EXPECT_THAT(names, testing::Contains("synthetic"));
  EXPECT_THAT(names, testing::Not(testing::Contains("count")));
}

TEST(LanguageSchema, ParametersAreThoseOfTheType) {
  const json whole = schema();
  for (const json& rule : whole["definitions"]["stage"]["allOf"]) {
    if (rule["if"]["properties"].value("/consumer/const"_json_pointer, "") != "count") continue;
    const json& params = rule["then"]["properties"]["params"];
    EXPECT_TRUE(params["properties"].contains("sleep_ms"));
    EXPECT_EQ(params["additionalProperties"], false);
    return;
  }
  FAIL() << "count has no rule";
}

TEST(LanguageSchema, AcceptsStagesThatAreProgramsAndFunctions) {
  const json_schema::Validator validator(schema());
  const auto check = [&](const std::string& stage) {
    return validator.check(
        json_schema::document("stages: {a: {producer: synthetic}, b: {from: a, " + stage + "}}"));
  };
  const std::string tensors = "tensors: {x: {dtype: u8, shape: [3]}}";
  EXPECT_EQ(check("exec: [./mine], params: {any: 1}, " + tensors), "");
  EXPECT_NE(check("exec: [./mine], transform: delay"), "");
  EXPECT_EQ(check("transform: python, params: {call: a.py:f, by: 3}"), "");
  EXPECT_NE(check("transform: python, params: {by: 3}"), "");
}

TEST(LanguageSchema, AStageThatNamesAPluginMayHaveAnyType) {
  const json_schema::Validator validator(schema());
  const auto said = [&](const char* plugin) {
    return validator.check(json_schema::document(
        std::string("stages: {a: {producer: made_up, params: {any: 1}") + plugin + "}}"));
  };
  EXPECT_EQ(said(", plugin: mine.so"), "");
  EXPECT_NE(said(""), "");
}

TEST(LanguageSchema, AcceptsEveryGraphOfConfigs) {
  const json_schema::Validator validator(schema());
  for (const auto& files : config_graphs()) {
    if (files.size() > 1) continue;  // the second is no graph
    const json graph = json_schema::document(file_text(config_folder() / files[0]));
    ASSERT_TRUE(graph.is_object()) << files[0];
    EXPECT_EQ(validator.check(graph), "") << files[0];
  }
}

TEST(LanguageSchema, RefusesWhatCheckRefuses) {
  const json_schema::Validator validator(schema());
  const auto check = [&](const std::string& text) {
    return validator.check(json_schema::document(text));
  };
  const std::string end = "stages: {a: {producer: synthetic}, b: {consumer: count, from: a";
  ASSERT_EQ(check(end + "}}"), "");
  for (const char* wrong :
       {", replicsa: 2}}", ", replicas: 0}}", ", replicas: many}}", ", drop_last: 1}}",
        ", join: zipp}}", ", params: {sleep: 3}}}", ", params: {sleep_ms: -1}}}",
        "}, c: {consumer: count, from: {stage: a, btch: 3}}}", "}, c: {consumer: count, from: []}}",
        ", transform: delay}}", "}, c: {from: a}}", "}, c: {consumer: cuont}}",
        ", on_error: {skipp: 3}}}", ", restart: {policy: maybe}}}", "}}\nepoch: 3"}) {
    EXPECT_NE(check(end + wrong), "") << wrong;
  }
}

}  // namespace
}  // namespace brigade
