#include "base/printable.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace brigade {
namespace {

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

}  // namespace
}  // namespace brigade
