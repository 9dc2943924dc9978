#include "pipeline/plan/text_table.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

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
