#include "pipeline/process/language_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "pipeline/config/key_table.h"
#include "stages/builtin.h"

namespace brigade {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json schema() { return json::parse(language_schema(builtin_stage_types())); }

TEST(LanguageSchema, HasEveryKeyWithItsHelp) {
  const json all = schema();
  for (const KeySpec& key : key_table()) {
    const char* kDefinitions[] = {"",       "checkpoint", "shard",  "stage",
                                  "source", "on_error",   "restart"};
    const char* definition = kDefinitions[static_cast<int>(key.scope)];
    const json& place = *definition == 0 ? all : all["definitions"][definition];
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

TEST(LanguageSchema, AStageIsOneOfThreeKinds) {
  EXPECT_EQ(schema()["definitions"]["stage"]["oneOf"].size(), 3u);
}

}  // namespace
}  // namespace brigade
