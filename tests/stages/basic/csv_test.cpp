#include "stages/basic/csv_table.h"
#include "stages/basic/csv_text.h"

#include <gtest/gtest.h>

#include <brigade/text.h>

namespace brigade {
namespace {

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
  EXPECT_EQ(records.skipped(),
            (std::vector<SkippedInputs>{{SkipReason::blank, 15, "blank lines"}}));
  EXPECT_EQ(CsvRecords::find("f", text, ',', false)->size(), 101u);
  EXPECT_EQ(CsvRecords::find("f", "head\n", ',', true).error().message,
            "f: has no lines with data");
  EXPECT_EQ(CsvRecords::find("f", "a\n\"b\n", ',', true).error().message,
            "f:2:1: a quote in this record is never closed");
}

TEST(CsvSamples, AreThoseOfATableThatIsAllThere) {
  const std::string text = "a;b\n1;2\n\n\"x\ny\";3\n";
  const FileHeader all{text, text.size()};
  const std::vector<SkippedInputs> blank{{SkipReason::blank, 1, "blank lines"}};
  EXPECT_EQ(csv_samples(&all, ";", true), SampleCount(2, blank));
  EXPECT_EQ(csv_samples(&all, ";", false), SampleCount(3, blank));
  EXPECT_EQ(csv_samples(&all, "", true), std::nullopt);
  const FileHeader beginning{text, text.size() + 1};
  EXPECT_EQ(csv_samples(&beginning, ";", true), std::nullopt);
  const FileHeader empty{"a;b\n", 4};
  EXPECT_EQ(csv_samples(&empty, ";", true), std::nullopt);
  EXPECT_EQ(csv_samples(nullptr, ";", true), std::nullopt);
}

using Records = std::vector<std::vector<std::string>>;

/// All of a text, as the stage reads it.
Records read_all(std::string_view text, char separator = ',') {
  Records out;
  std::vector<CsvField> fields;
  std::string memory;
  for (std::size_t at = csv_skip_empty(text, csv_begin(text)); at < text.size();) {
    const auto end = csv_record_end(text, at, separator);
    if (!end) return {{"not closed"}};
    std::size_t wrong = 0;
    const auto split = csv_split(text.substr(at, *end - at), separator, fields, wrong);
    out.emplace_back();
    for (const CsvField& field : fields) out.back().emplace_back(csv_value(field, memory));
    if (!split) out.back().push_back(split.error().message);
    at = csv_skip_empty(text, *end);
  }
  return out;
}

TEST(CsvTextTest, FieldsAreBetweenSeparatorsAndRecordsOnLines) {
  EXPECT_EQ(read_all("a,b\n1,2\n"), (Records{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(read_all("a,b\r\n1,2"), (Records{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(read_all("a\tb", '\t'), (Records{{"a", "b"}}));
  EXPECT_EQ(read_all(",a,\n"), (Records{{"", "a", ""}}));
  EXPECT_EQ(read_all("one"), (Records{{"one"}}));
  EXPECT_EQ(read_all(""), Records{});
}

TEST(CsvTextTest, QuotedFieldsHoldAnything) {
  EXPECT_EQ(read_all("\"a,b\",\"c\nd\",\"say \"\"hi\"\"\"\nx,y,z\n"),
            (Records{{"a,b", "c\nd", "say \"hi\""}, {"x", "y", "z"}}));
  EXPECT_EQ(read_all("\"\",\"\"\"\"\n1,2\n"), (Records{{"", "\""}, {"1", "2"}}));
  EXPECT_EQ(read_all("a,\"x\r\n\r\ny\"\r\nb,c\r\n"), (Records{{"a", "x\r\n\r\ny"}, {"b", "c"}}));
}

TEST(CsvTextTest, AQuoteInsideAnUnquotedFieldIsACharacter) {
  EXPECT_EQ(read_all("5\" nail,1\n6\" nail,2\n"), (Records{{"5\" nail", "1"}, {"6\" nail", "2"}}));
}

TEST(CsvTextTest, EmptyLinesAndTheMarkOfUtf8ArePassedOver) {
  EXPECT_EQ(read_all("\xef\xbb\xbf\n\r\na,b\n\n\r\n1,2\n\n"), (Records{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(csv_skip_empty("\r", 0), 1u);
}

TEST(CsvTextTest, SaysWhatFollowsAQuoteThatIsClosed) {
  EXPECT_EQ(read_all("\"a\"b,c\n"),
            (Records{{"a",
                      "expected \",\" or the end of the line after a closing quote, found "
                      "\"b\""}}));
  EXPECT_EQ(read_all("a,\"b\nc\n"), (Records{{"not closed"}}));
  EXPECT_EQ(read_all("a,\"b\"\""), (Records{{"not closed"}}));
}

TEST(CsvTextTest, PlacesAreCountedFromOne) {
  EXPECT_EQ(csv_place("f.csv", "ab\ncd\n", 0), "f.csv:1:1");
  EXPECT_EQ(csv_place("f.csv", "ab\ncd\n", 4), "f.csv:2:2");
}

}  // namespace
}  // namespace brigade
