#include <brigade/text.h>
#include "base/printable.h"
#include "base/text_table.h"

#include <gtest/gtest.h>

#include <limits>

// The rest is asked word for word: tests/golden/base/texts.txt.
namespace brigade {
namespace {

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

TEST(Join, PutsSeparatorsBetweenPieces) {
  const std::vector<std::string> names = {"a", "b", "c"};
  EXPECT_EQ(join(names, ", "), "a, b, c");
  EXPECT_EQ(join(names, ", ", " or "), "a, b or c");
  EXPECT_EQ(join(std::vector<int>{1}, ", ", " or "), "1");
  EXPECT_EQ(join(std::vector<int>{}, ", "), "");
}

TEST(Printable, DoneTwiceItChangesNothing) {
  for (int lead = 0; lead < 256; ++lead)
    for (int next = 0; next < 256; ++next) {
      const std::string text{static_cast<char>(lead), static_cast<char>(next), 'x'};
      EXPECT_EQ(printable(printable(text)), printable(text));
    }
}

TEST(TextTable, TakesShortRowsAndNone) {
  TextTable table({Align::left, Align::left});
  EXPECT_EQ(table.text(), "");
  table.add({"alone"});
  table.add({});
  EXPECT_EQ(table.text(), "alone\n\n");
}

}  // namespace
}  // namespace brigade
