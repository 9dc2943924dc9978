#include <brigade/text.h>
#include "base/printable.h"
#include "base/text_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>

namespace brigade {
namespace {

using testing::ElementsAre;

TEST(Concat, JoinsTextNumbersAndTruthValues) {
  const std::string name = "augment";
  const char* literal = "rows";
  EXPECT_EQ(concat("stage ", name, ':', ' ', 6, ' ', literal, " = ", true),
            "stage augment: 6 rows = true");
  EXPECT_EQ(concat(), "");
}

TEST(Concat, PrintsNumbersInTheShortestFormThatReadsBack) {
  EXPECT_EQ(concat(0.1, ' ', 1.0, ' ', 1e300, ' ', -2.5f), "0.1 1 1e+300 -2.5");
  EXPECT_EQ(concat(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(concat(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(concat(std::uint8_t{65}), "65");  // a number, not a letter
}

TEST(Split, KeepsEmptyPieces) {
  EXPECT_THAT(split("a.b..c", '.'), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(split("", '.'), ElementsAre(""));
  EXPECT_THAT(split(".", '.'), ElementsAre("", ""));
}

TEST(Join, PutsSeparatorsBetweenPieces) {
  const std::vector<std::string> names = {"a", "b", "c"};
  EXPECT_EQ(join(names, ", "), "a, b, c");
  EXPECT_EQ(join(names, ", ", " or "), "a, b or c");
  EXPECT_EQ(join(std::vector<int>{1}, ", ", " or "), "1");
  EXPECT_EQ(join(std::vector<int>{}, ", "), "");
}

TEST(Trim, RemovesBlanksAtBothEndsOnly) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Strip, GivesTheRestOrNothing) {
  EXPECT_EQ(strip_prefix("vars.data", "vars."), "data");
  EXPECT_EQ(strip_prefix("vars", "vars."), std::nullopt);
  EXPECT_EQ(strip_suffix("train.yaml", ".yaml"), "train");
  EXPECT_EQ(strip_suffix("yaml", ".yaml"), std::nullopt);
}

TEST(Quote, KeepsMessagesOnOnePrintableLine) {
  EXPECT_EQ(quote("a \"b\" \\ \n\t\r"), R"("a \"b\" \\ \n\t\r")");
  EXPECT_EQ(quote(std::string_view("\0\x1b[0m\x7f", 6)), R"("\x00\x1b[0m\u007f")");
  EXPECT_EQ(quote("größe"), "\"größe\"");
}

TEST(FormatCount, GroupsDigitsInThrees) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(60000), "60,000");
  EXPECT_EQ(format_count(1234567), "1,234,567");
}

TEST(EditDistance, CountsEditsAndSwapsOfNeighbours) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("replcias", "replicas"), 1u);
  EXPECT_EQ(edit_distance("ca", "abc"), 3u);  // optimal string alignment, not full Damerau
}

TEST(DidYouMean, FindsTheNearestCandidate) {
  const std::vector<std::string> types = {"decode_image", "augment_image", "idx_images"};
  EXPECT_EQ(did_you_mean("augmnt_image", types), "augment_image");
  EXPECT_EQ(did_you_mean("Augment_Image", types), "augment_image");
  EXPECT_EQ(did_you_mean("bath", {"params", "batch", "path"}), "batch");
}

TEST(DidYouMean, SuggestsNothingFarAway) {
  EXPECT_EQ(did_you_mean("torch", {"augment_image", "count"}), std::nullopt);
  EXPECT_EQ(did_you_mean("x", {"y"}), std::nullopt);
  EXPECT_EQ(did_you_mean("", {"a"}), std::nullopt);
  EXPECT_EQ(did_you_mean(std::string(65, 'a'), {std::string(65, 'a')}), std::nullopt);
}

TEST(Printable, LeavesTextAlone) {
  for (const char* text :
       {"", "a b", "größe/写真/🦆.jpg", "a\tb", "C:\\n \"x\"", "\u00a0\u2027\u2030"})
    EXPECT_EQ(printable(text), text);
}

// One line: no new one can be made up, and nothing on a terminal moves, hides or turns.
TEST(Printable, ShowsWhatWouldDoSomething) {
  EXPECT_EQ(printable("a\nb\r\nc"), R"(a\nb\r\nc)");
  EXPECT_EQ(printable(std::string_view("\0\x1b[2J\x07\x08", 7)), R"(\x00\x1b[2J\x07\x08)");
  EXPECT_EQ(printable("\x7f"), R"(\u007f)");
  EXPECT_EQ(printable("\u0080\u009b31m\u0085\u009f"), R"(\u0080\u009b31m\u0085\u009f)");
  EXPECT_EQ(printable("cat\u202egpj.exe"), R"(cat\u202egpj.exe)");
  for (const char* bidi : {"\u061c", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c", "\u202d",
                           "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"})
    EXPECT_EQ(printable(bidi).size(), 6u) << printable(bidi);
  EXPECT_EQ(printable("\u2028\u2029"), R"(\u2028\u2029)");
}

TEST(Printable, ShowsBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("\xff\xfe"), R"(\xff\xfe)");
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            R"(\x9b31m)");                                  // a C1 control of eight bits
  EXPECT_EQ(printable("\xc0\x9b"), R"(\xc0\x9b)");          // ... in two bytes too many
  EXPECT_EQ(printable("\xe0\x80\x9b"), R"(\xe0\x80\x9b)");  // ... three
  EXPECT_EQ(printable("\xed\xa0\x80"), R"(\xed\xa0\x80)");  // half a pair of UTF-16
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), R"(\xf4\x90\x80\x80)");
  EXPECT_EQ(printable("\xf0\x9f\xa6"), R"(\xf0\x9f\xa6)");  // cut off
  EXPECT_EQ(printable("\xc3"
                      "a\xc3\xb6"),
            R"(\xc3aö)");
}

TEST(Printable, DoneTwiceItChangesNothing) {
  for (int lead = 0; lead < 256; ++lead)
    for (int next = 0; next < 256; ++next) {
      const std::string text{static_cast<char>(lead), static_cast<char>(next), 'x'};
      EXPECT_EQ(printable(printable(text)), printable(text));
    }
}

TEST(Printable, LinesOfOurOwnStay) { EXPECT_EQ(printable_lines("a\nb\x1b\n"), "a\nb\\x1b\n"); }

TEST(Printable, QuotesShowWhereANameEnds) {
  EXPECT_EQ(quote("a \"b\" \\ \n\t\r\x1b\u202e\xff"), R"("a \"b\" \\ \n\t\r\x1b\u202e\xff")");
}

TEST(TextTable, AlignsColumnsToTheirWidestCell) {
  TextTable table({Align::left, Align::right, Align::left});
  table.add({"stage", "rows", "note"});
  table.add({"a", "1", ""});
  table.add({"augment", "1024", "x"});
  EXPECT_EQ(table.text("> "),
            "> stage    rows  note\n"
            "> a           1\n"
            "> augment  1024  x\n");
}

TEST(TextTable, ACellStaysInItsRow) {
  TextTable table({Align::left, Align::left});
  table.add({"a\nb", "x\u202ey"});
  EXPECT_EQ(table.text(), "a\\nb  x\\u202ey\n");
}

TEST(TextTable, TakesShortRowsAndNone) {
  TextTable table({Align::left, Align::left});
  EXPECT_EQ(table.text(), "");
  table.add({"alone"});
  table.add({});
  EXPECT_EQ(table.text(), "alone\n\n");
}

TEST(TextTable, CountsCharactersNotBytes) {
  EXPECT_EQ(text_width("caf\xc3\xa9"), 4u);
  EXPECT_EQ(text_width("\xa9\xa9x"), 2u);
  EXPECT_EQ(text_width(""), 0u);
  TextTable table({Align::left, Align::left});
  table.add({"caf\xc3\xa9", "x"});
  table.add({"cafe", "y"});
  EXPECT_EQ(table.text(), "caf\xc3\xa9  x\ncafe  y\n");
}

TEST(TextTable, TheLastColumnGoesOnBelowItself) {
  TextTable table({Align::left, Align::left});
  table.add({"a", "one two three"});
  table.add({"long", "averyveryverylongword here"});
  table.add({"only"});
  EXPECT_EQ(table.wrapped("  ", 16),
            "  a     one two\n"
            "        three\n"
            "  long  averyveryverylongword\n"
            "        here\n"
            "  only\n");
}

TEST(TextTable, WithRoomNothingIsWrapped) {
  TextTable table({Align::left, Align::right});
  table.add({"a", "one two"});
  EXPECT_EQ(table.wrapped("", 80), table.text());
}

}  // namespace
}  // namespace brigade
