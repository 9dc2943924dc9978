#include "stages/api/left_out.h"

#include <gtest/gtest.h>

#include <set>

namespace brigade {
namespace {

TEST(LeftOut, EveryReasonHasAWordOfItsOwn) {
  std::set<std::string_view> names;
  for (int why = 0; why <= static_cast<int>(LeftOutWhy::blank); ++why)
    names.insert(left_out_name(static_cast<LeftOutWhy>(why)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(LeftOutWhy::blank) + 1);
  EXPECT_EQ(names.count(""), 0u);
}

TEST(LeftOutTally, CountsByKindAndKeepsAFewExamples) {
  LeftOutTally tally;
  for (const char* name : {".txt", ".md", ".txt", ".csv", ".log"})
    tally.add(LeftOutWhy::no_match, "files that are no images", name);
  tally.add(LeftOutWhy::hidden, "hidden files");
  EXPECT_EQ(tally.list(),
            (std::vector<LeftOut>{
                {LeftOutWhy::no_match, 5, "files that are no images (\".txt\", \".md\", \".csv\")"},
                {LeftOutWhy::hidden, 1, "hidden files"}}));
}

TEST(LeftOutTally, OfSeveralBecomesOne) {
  LeftOutTally first;
  LeftOutTally second;
  first.add(LeftOutWhy::no_match, "files", "a");
  second.add(LeftOutWhy::no_match, "files", "b");
  second.add(LeftOutWhy::no_match, "files", "a");
  second.add(LeftOutWhy::no_file, "links");
  first.add(second);
  EXPECT_EQ(first.list(), (std::vector<LeftOut>{{LeftOutWhy::no_match, 3, "files (\"a\", \"b\")"},
                                                {LeftOutWhy::no_file, 1, "links"}}));
}

TEST(LeftOutTally, NamesOfAnyBytesAreCutAndPrintable) {
  LeftOutTally tally;
  tally.add(LeftOutWhy::no_match, "files", "\x1b[31m\n" + std::string(1000, 'x'));
  const std::string text = tally.list().front().text;
  EXPECT_LT(text.size(), kLeftOutTextBytesMax);
  EXPECT_EQ(text.find('\x1b'), text.npos);
  EXPECT_EQ(text.find('\n'), text.npos);
}

}  // namespace
}  // namespace brigade
