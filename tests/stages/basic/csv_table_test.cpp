#include "stages/basic/csv_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(CsvTable, NamesColumnsByTheFirstLineOrNumbers) {
  EXPECT_THAT(csv_names("f", "\xef\xbb\xbf\n a ,\"b,c\"\n1,2\n", ',', true).value(),
              testing::ElementsAre("a", "b,c"));
  EXPECT_THAT(csv_names("f", "x;y\n", ';', false).value(), testing::ElementsAre("1", "2"));
  EXPECT_EQ(csv_names("f", "\xff\xfe", ',', true).error().message,
            "f: is in UTF-16; save it as UTF-8");
  EXPECT_EQ(csv_names("f", "\n\r\n", ',', true).error().message, "f: has no lines");
}

TEST(CsvTable, AColumnIsFoundByItsOneName) {
  EXPECT_EQ(csv_find_column("f", {"a", "b"}, "b", true).value(), 1u);
  EXPECT_EQ(csv_find_column("f", {"a", "a"}, "a", true).error().message,
            "f: has several columns \"a\"");
  EXPECT_EQ(csv_find_column("f", {"1", "2"}, "label", false).error().message,
            "f: has no column \"label\"; it has 1 and 2 (`header: false` numbers them)");
}

TEST(CsvTable, SeparatorsAreOneCharacter) {
  EXPECT_EQ(csv_separator("\t").value(), '\t');
  for (const char* text : {"", ",,", "\"", "\n"}) EXPECT_FALSE(csv_separator(text)) << text;
}

TEST(CsvTable, RecordsAreFoundByNumber) {
  std::string text = "head\n";
  for (int i = 0; i < 100; ++i) {
    text +=
        i % 7 == 0 ? "\r\n\"two\nlines " + std::to_string(i) + "\"\n" : std::to_string(i) + "\n";
  }
  const CsvRecords records = CsvRecords::find("f", text, ',', true).value();
  ASSERT_EQ(records.size(), 100u);
  for (std::uint64_t i = 100; i-- > 0;)
    EXPECT_EQ(records.text(i),
              i % 7 == 0 ? "\"two\nlines " + std::to_string(i) + "\"\n" : std::to_string(i) + "\n");
  EXPECT_EQ(records.left_out(), (std::vector<LeftOut>{{LeftOutWhy::blank, 15, "blank lines"}}));
  EXPECT_EQ(CsvRecords::find("f", text, ',', false)->size(), 101u);
  EXPECT_EQ(CsvRecords::find("f", "head\n", ',', true).error().message,
            "f: has no lines with data");
  EXPECT_EQ(CsvRecords::find("f", "a\n\"b\n", ',', true).error().message,
            "f:2:1: a quote in this record is never closed");
}

TEST(CsvSamples, AreThoseOfATableThatIsAllThere) {
  const std::string text = "a;b\n1;2\n\n\"x\ny\";3\n";
  const FileFact all{text, text.size()};
  EXPECT_EQ(csv_samples(&all, ";", true), 2u);
  EXPECT_EQ(csv_samples(&all, ";", false), 3u);
  EXPECT_EQ(csv_samples(&all, "", true), std::nullopt);
  const FileFact beginning{text, text.size() + 1};
  EXPECT_EQ(csv_samples(&beginning, ";", true), std::nullopt);
  const FileFact empty{"a;b\n", 4};
  EXPECT_EQ(csv_samples(&empty, ";", true), std::nullopt);
  EXPECT_EQ(csv_samples(nullptr, ";", true), std::nullopt);
}

}  // namespace
}  // namespace brigade
