#include "base/text.h"

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

}  // namespace
}  // namespace brigade
