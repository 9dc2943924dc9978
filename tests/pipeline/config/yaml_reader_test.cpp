#include "pipeline/config/yaml_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "base/text.h"

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

TEST_F(YamlReader, AnUnclosedQuoteIsAMistake) {
  EXPECT_FALSE(read("a: 'it''s\n"));
  EXPECT_THAT(messages(), HasSubstr("never closed"));
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

}  // namespace
}  // namespace brigade
