#include "pipeline/config/yaml_tree.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(YamlTree, FindsKeys) {
  YamlNode map = YamlNode::map();
  map.entries.push_back({"a", {}, YamlNode::scalar("1")});
  ASSERT_NE(map.find("a"), nullptr);
  EXPECT_EQ(map.find("a")->value.text, "1");
  EXPECT_EQ(map.find("b"), nullptr);
}

TEST(YamlTree, DescribesValuesForMessages) {
  EXPECT_EQ(describe(YamlNode{}), "nothing");
  EXPECT_EQ(describe(YamlNode::list()), "a list");
  EXPECT_EQ(describe(YamlNode::map()), "a mapping");
  EXPECT_EQ(describe(YamlNode::scalar("a\"b")), "\"a\\\"b\"");
}

TEST(YamlTree, ShortensLongTextsBetweenCharacters) {
  std::string text(59, 'x');
  text += "ää" + std::string(100, 'y');
  const std::string shown = describe(YamlNode::scalar(text));
  EXPECT_EQ(shown, "\"" + std::string(59, 'x') + "\"...");
}

TEST(YamlTree, BecomesParameterValues) {
  YamlNode map = YamlNode::map();
  YamlNode list = YamlNode::list();
  list.items = {YamlNode::scalar("1"), YamlNode{}};
  map.entries.push_back({"l", {}, list});
  const ParamValue value = to_param_value(map);
  ASSERT_EQ(value.kind, ParamValue::Kind::map);
  ASSERT_EQ(value.entries.size(), 1u);
  EXPECT_EQ(value.entries[0].first, "l");
  ASSERT_EQ(value.entries[0].second.items.size(), 2u);
  EXPECT_EQ(value.entries[0].second.items[0], ParamValue::scalar("1"));
  EXPECT_EQ(value.entries[0].second.items[1].kind, ParamValue::Kind::null);
}

}  // namespace
}  // namespace brigade
