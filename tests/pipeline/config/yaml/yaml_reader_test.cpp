#include "pipeline/config/yaml/yaml_reader.h"
#include "pipeline/config/yaml/yaml_syntax.h"
#include "pipeline/config/yaml/yaml_tree.h"
#include "pipeline/config/yaml/yaml_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include <brigade/text.h>

namespace brigade {
namespace {

using testing::HasSubstr;

class YamlReader : public testing::Test {
 protected:
  std::optional<YamlNode> read(std::string text, int column = 1) {
    const int file = source_.add({"g.yaml", std::move(text), "/"});
    return read_yaml(source_, file, diagnostics_, column);
  }
  std::string messages() const { return diagnostics_.render(source_); }

  SourceText source_;
  Diagnostics diagnostics_;
};

TEST_F(YamlReader, KnowsWhereKeysAndValuesStand) {
  const auto root = read("a: 1\nb:\n  cd: \"x y\"\n");
  ASSERT_TRUE(root);
  EXPECT_EQ(root->find("a")->key_span.mark, (SourceMark{0, 1, 1}));
  EXPECT_EQ(root->find("a")->value.span.mark, (SourceMark{0, 1, 4}));
  const YamlEntry* inner = root->find("b")->value.find("cd");
  EXPECT_EQ(inner->key_span.mark, (SourceMark{0, 3, 3}));
  EXPECT_EQ(inner->key_span.length, 2);
  EXPECT_EQ(inner->value.span.mark, (SourceMark{0, 3, 7}));
  EXPECT_EQ(inner->value.span.length, 5);
}

TEST_F(YamlReader, TellsQuotedTextFromNoValue) {
  const auto root = read("a: null\nb: \"null\"\nc:\nd: ~\ne: ''\n");
  EXPECT_TRUE(root->find("a")->value.is_null());
  EXPECT_TRUE(root->find("b")->value.quoted);
  EXPECT_EQ(root->find("b")->value.text, "null");
  EXPECT_TRUE(root->find("c")->value.is_null());
  EXPECT_EQ(root->find("c")->value.span.mark, (SourceMark{0, 3, 1})) << "shown at its key";
  EXPECT_TRUE(root->find("d")->value.is_null());
  EXPECT_TRUE(root->find("e")->value.is_scalar());
}

TEST_F(YamlReader, ExpandsAliases) {
  const auto root = read("a: &x {k: [1, 2]}\nb: *x\n");
  ASSERT_TRUE(root && diagnostics_.ok());
  EXPECT_EQ(root->find("b")->value.find("k")->value.items.size(), 2u);
}

TEST_F(YamlReader, GoesOnAfterADuplicateKeyAndKeepsTheFirst) {
  const auto root = read("a: 1\na: 2\nb: 3\nb: 4\n");
  ASSERT_TRUE(root);
  EXPECT_EQ(diagnostics_.errors(), 2u);
  EXPECT_EQ(root->find("a")->value.text, "1");
  EXPECT_EQ(root->entries.size(), 2u);
}

TEST_F(YamlReader, ReadsTheRestOfASetting) {
  const auto root = read("stages.a=[1, x]", 10);
  ASSERT_TRUE(root && root->is_list());
  EXPECT_EQ(root->items[1].span.mark, (SourceMark{0, 1, 14}));
}

TEST_F(YamlReader, ClosedQuotesWithEscapesAreNoMistake) {
  const auto root = read("a: 'it''s'\nb: \"say \\\"x\\\"\"\nc: 'two\n  lines'\n");
  ASSERT_TRUE(root) << messages();
  EXPECT_EQ(root->find("a")->value.text, "it's");
  EXPECT_EQ(root->find("c")->value.text, "two lines");
}

TEST_F(YamlReader, AliasesCountTowardsTheDepth) {
  std::string text = "x: &x " + std::string(40, '[') + std::string(40, ']') + "\n";
  text += "y: " + std::string(40, '[') + "*x" + std::string(40, ']') + "\n";
  EXPECT_FALSE(read(text));
  EXPECT_THAT(messages(), HasSubstr("nested more than 64 levels"));
}

TEST_F(YamlReader, LongTextsRepeatedByAliasesAreRefused) {
  std::string text = "x: &x " + std::string(1 << 19, 'a') + "\ny: [";
  for (int i = 0; i < 100; ++i) text += "*x, ";
  EXPECT_FALSE(read(text + "*x]\n"));
  EXPECT_THAT(messages(), HasSubstr("too large"));
}

// Whatever is wrong with a second document, the first is not taken for the whole.
TEST_F(YamlReader, ASecondDocumentIsAMistakeAlsoWhereItIsBroken) {
  for (const char* second : {"b: 2\n", "*nothing\n", "<<: 1\n", "!tag x\n", "'never closed\n",
                             "[[1: 2\n", "\tb: 2\n", "b: {\n", "", "&a [*a]\n", "- - : -\n"}) {
    source_ = {};
    diagnostics_ = {};
    const auto root = read(concat("a: 1\n---\n", second));
    EXPECT_FALSE(diagnostics_.ok()) << (root ? "taken for the whole: " : "no message: ") << second;
    EXPECT_FALSE(messages().empty());
  }
}

// Inputs that made YAML readers slow or run out of stack. A hang limit, not a measurement.
TEST_F(YamlReader, HostileInputsEnd) {
  const std::size_t size = 200'000;
  const auto repeat = [&](const std::string& piece) {
    std::string text;
    while (text.size() < size) text += piece;
    return text;
  };
  const auto start = std::chrono::steady_clock::now();
  for (const char* piece :
       {"[",    "{",       "- ",   "? ",     "a: ",     "&a ", "!a ", "*a ",   "\"", "'",
        "{a: ", "[a, ",    "- - ", "|\n ",   "a\n ",    "#",   "%",   "---\n", ": ", "? [",
        "\n",   "a: {b: ", "<<: ", "!!str ", "a: &a\n", "-\n", "\t",  "- |\n", "${"})
    read("a: " + repeat(piece));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

std::string explain(std::string text) {
  SourceText source;
  Diagnostics diagnostics;
  const int file = source.add({"g.yaml", std::move(text), "/"});
  const auto root = read_yaml(source, file, diagnostics);
  EXPECT_FALSE(root) << "this is YAML";
  EXPECT_EQ(diagnostics.errors(), 1u);
  return diagnostics.render(source);
}

TEST(YamlSyntax, FindsTheVariableInBracesEvenAfterOtherBraces) {
  EXPECT_THAT(explain("a: {b: {c: 1}, d: ${x}/y}\n"), HasSubstr("write \"${x}/y\""));
  EXPECT_THAT(explain("a: [1, ${x}]\n"), HasSubstr("write \"${x}\""));
  EXPECT_THAT(explain("a: {b: 1,\n    c: ${x}}\n"), HasSubstr("g.yaml:2:8"));
}

TEST(YamlSyntax, QuotesHideWhatIsInThem) {
  EXPECT_THAT(explain("a: {b: \"${x}\", c: 1\nd: 2\n"), testing::Not(HasSubstr("needs quotes")));
}

TEST(YamlSyntax, AnUnknownReasonIsPassedOn) {
  SourceText source;
  Diagnostics diagnostics;
  const int file = source.add({"g.yaml", "a: 1\n", "/"});
  explain_syntax_error(source, {file, 1, 1}, "the moon is wrong", diagnostics);
  EXPECT_THAT(diagnostics.render(source), HasSubstr("not YAML: the moon is wrong"));
}

TEST(YamlSyntax, MarksOutsideTheTextDoNoHarm) {
  SourceText source;
  Diagnostics diagnostics;
  const int file = source.add({"g.yaml", "a: {\n", "/"});
  for (const int line : {-1, 0, 2, 99})
    for (const int column : {-1, 0, 7, 999})
      explain_syntax_error(source, {file, line, column}, "end of map flow not found", diagnostics);
  EXPECT_FALSE(diagnostics.ok());
}

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
