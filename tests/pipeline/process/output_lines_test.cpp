#include "pipeline/process/output_lines.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

using Lines = std::vector<std::string>;

TEST(OutputLines, AreCompleteWhateverPiecesTheyComeIn) {
  OutputLines lines;
  EXPECT_EQ(lines.add("on"), Lines{});
  EXPECT_EQ(lines.add("e\ntwo\nth"), (Lines{"one", "two"}));
  EXPECT_EQ(lines.add("ree"), Lines{});
  EXPECT_EQ(lines.rest(), "three");
  EXPECT_EQ(lines.rest(), "");
}

TEST(OutputLines, EmptyLinesAreKept) {
  OutputLines lines;
  EXPECT_EQ(lines.add("\n\na\n"), (Lines{"", "", "a"}));
}

TEST(OutputLines, AreCutWhereTheyDoNotEnd) {
  OutputLines lines;
  const Lines cut = lines.add(std::string(2 * kOutputLineBytesMax + 1, 'x'));
  ASSERT_EQ(cut.size(), 2u);
  EXPECT_EQ(cut[0].size(), kOutputLineBytesMax);
  EXPECT_EQ(lines.rest(), "x");
}

TEST(OutputLines, AProgressBarLeavesItsLastState) {
  OutputLines lines;
  EXPECT_EQ(lines.add("10 %\r50 %\r100 %\ndone\r\n"), (Lines{"100 %", "done"}));
}

}  // namespace
}  // namespace brigade
