#include "stages/image/json_field.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

std::string error_of(std::string_view text, std::string_view field = "label") {
  const auto number = json_integer(text, field);
  return number ? "no error" : number.error().message;
}

TEST(JsonField, IsAWholeNumberOfAnObject) {
  EXPECT_EQ(json_integer(R"({"label": 7})", "label").value(), 7);
  EXPECT_EQ(json_integer(R"({"a": {"b": {"c": -3}}, "x": [1]})", "a.b.c").value(), -3);
  EXPECT_EQ(json_integer(R"({"label": 9223372036854775807})", "label").value(),
            std::numeric_limits<std::int64_t>::max());
}

TEST(JsonField, SaysWhatIsThereInstead) {
  for (const char* text : {"", "{", "label: 7", "{\"label\": 7}}"})
    EXPECT_EQ(error_of(text), "is no JSON") << text;
  for (const char* text : {"{}", "7", "[]", R"({"labels": 7})"})
    EXPECT_EQ(error_of(text), "has no field \"label\"") << text;
  EXPECT_EQ(error_of(R"({"label": 7})", "label.fine"), "has no field \"label.fine\"");
  EXPECT_EQ(error_of(R"({"label": "cat"})"), "has \"cat\" as \"label\", expected a whole number");
  EXPECT_EQ(error_of(R"({"label": 1.5})"), "has 1.5 as \"label\", expected a whole number");
  EXPECT_EQ(error_of(R"({"label": 9223372036854775808})"),
            "has 9223372036854775808 as \"label\", expected a whole number");
  EXPECT_EQ(error_of("{\"label\": \"" + std::string(100, 'x') + "\"}"),
            "has \"" + std::string(39, 'x') + "... as \"label\", expected a whole number");
}

TEST(JsonField, DepthIsNoDanger) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  for (const std::string& text : {deep, "{\"label\": " + deep + "}", std::string(1'000'000, '[')})
    EXPECT_EQ(error_of(text), "is nested deeper than 100 levels");
}

}  // namespace
}  // namespace brigade
