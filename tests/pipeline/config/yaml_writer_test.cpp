#include "pipeline/config/yaml_writer.h"

#include <gtest/gtest.h>

#include "pipeline/config/yaml_reader.h"

namespace brigade {
namespace {

std::string round_trip(const std::string& text) {
  SourceText source;
  Diagnostics diagnostics;
  const int file = source.add({"g.yaml", text, "/"});
  const auto root = read_yaml(source, file, diagnostics);
  return root ? write_yaml(*root) : diagnostics.render(source);
}

TEST(YamlWriter, WritesBlocksAndLists) {
  EXPECT_EQ(round_trip("{a: {b: 1, c: [x, y, {z: 2}]}, d: {}, e: }"),
            "a:\n  b: 1\n  c: [x, y, {z: 2}]\nd: {}\ne: null\n");
}

TEST(YamlWriter, EveryTextComesBack) {
  for (const std::string text :
       {"",       "null", "~",   "plain", "a b",  "a: b", "- x", "-",  "--",  "---",
        "#",      "\"",   "\\",  "'",     "a\nb", "\t",   "ä€",  "*x", "&x",  "!x",
        "%x",     "50%",  "@",   "`",     "{",    "[",    ",",   "?",  "1.5", "true",
        "/a/b.c", "<<",   "...", "a#b",   ":",    "a:",   "|",   ">",  "$x"}) {
    YamlNode map = YamlNode::map();
    map.entries.push_back({"k", {}, YamlNode::scalar(text)});
    YamlNode list = YamlNode::list();
    list.items.push_back(YamlNode::scalar(text));
    map.entries.push_back({"l", {}, list});
    SourceText source;
    Diagnostics diagnostics;
    const int file = source.add({"g.yaml", write_yaml(map), "/"});
    const auto back = read_yaml(source, file, diagnostics);
    ASSERT_TRUE(back) << text << "\n" << diagnostics.render(source);
    EXPECT_EQ(back->find("k")->value.text, text);
    EXPECT_TRUE(back->find("k")->value.is_scalar()) << text;
    EXPECT_EQ(back->find("l")->value.items.at(0).text, text);
  }
}

TEST(YamlWriter, DollarsAreDoubled) { EXPECT_EQ(quote_dollars("a$b$"), "a$$b$$"); }

}  // namespace
}  // namespace brigade
