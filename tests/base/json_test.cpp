#include "base/json.h"

#include <gtest/gtest.h>

#include <string>

namespace brigade {
namespace {

std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') +
         std::string(static_cast<std::size_t>(depth), ']');
}

TEST(ParseJson, GivesWhatIsThere) {
  EXPECT_EQ(parse_json(R"({"a": [1, "b"]})").value()["a"][1], "b");
  const auto ordered = parse_json<nlohmann::ordered_json>(R"({"z": 1, "a": 2})");
  ASSERT_TRUE(ordered);
  EXPECT_EQ(ordered->begin().key(), "z");
}

TEST(ParseJson, WhatIsNoneIsSaid) {
  for (const char* text : {"", "{", "label: 7", "{} x", "[1,]", "\xff", "{\"a\":01}"})
    EXPECT_EQ(parse_json(text).error().message, "is not JSON") << text;
  EXPECT_EQ(parse_json(std::string("{}\0{}", 5)).error().message, "is not JSON");
}

TEST(ParseJson, ADepthHasALimit) {
  EXPECT_TRUE(parse_json(nested(kJsonDepthMax)));
  const std::string deeper = "is nested deeper than 100 levels";
  EXPECT_EQ(parse_json(nested(kJsonDepthMax + 1)).error().message, deeper);
  EXPECT_EQ(parse_json(nested(100'000)).error().message, deeper);
  EXPECT_EQ(parse_json(std::string(1'000'000, '[')).error().message, deeper);
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_EQ(parse_json(objects).error().message, deeper);
  std::string neighbours = "[";
  for (int i = 0; i < 1000; ++i) neighbours += "[],";
  EXPECT_TRUE(parse_json(neighbours + "0]")) << "many are not deep";
}

}  // namespace
}  // namespace brigade
