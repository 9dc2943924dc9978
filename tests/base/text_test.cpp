#include <brigade/text.h>
#include "base/printable.h"
#include "base/text_table.h"
#include "base/units.h"

#include <gtest/gtest.h>

#include <limits>

// The rest is asked word for word: tests/golden/base.
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

TEST(Print, IsExactAndReadsBack) {
  for (std::uint64_t bytes :
       {0ull, 1ull, 1000ull, 1024ull, 1536ull, 64ull << 20, 3ull << 29, (1ull << 63) - 1})
    EXPECT_EQ(parse_size(print_size(bytes)).value(), bytes) << print_size(bytes);
  for (std::uint64_t billionths : {1ull, 500'000ull, 100'000'000ull, 1'000'000'000ull})
    EXPECT_EQ(parse_share(print_share(billionths)).value(), billionths) << print_share(billionths);
  for (std::int64_t amount :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{1'000'000}, std::int64_t{90'000'000'000},
        std::int64_t{120'000'000'000}, std::numeric_limits<std::int64_t>::max()})
    EXPECT_EQ(parse_duration(print_duration(std::chrono::nanoseconds(amount))).value().count(),
              amount);
}

}  // namespace
}  // namespace brigade
