#include "stages/basic/csv_table.h"
#include "stages/basic/csv_text.h"

#include <gtest/gtest.h>

#include <brigade/text.h>
#include "tests/support/word_for_word.h"

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

/// A separator and a text: its fields in brackets, a line for each record, as the stage reads it.
struct CsvTexts {
  std::string answer(std::string_view line) {
    const std::string separator = unescaped(parted(line, " ").first);
    const std::string text = unescaped(parted(line, " ").second);
    std::string out, memory;
    std::vector<CsvField> fields;
    for (std::size_t at = csv_skip_empty(text, csv_begin(text)); at < text.size();) {
      const auto end = csv_record_end(text, at, separator[0]);
      if (!end) return out + "not closed\n";
      std::size_t wrong = 0;
      const auto record = std::string_view(text).substr(at, *end - at);
      const auto split = csv_split(record, separator[0], fields, wrong);
      for (const CsvField& field : fields)
        out += concat("[", quote(std::string(csv_value(field, memory))), "]");
      out += concat(split ? "" : split.error().message, "\n");
      at = csv_skip_empty(text, *end);
    }
    return out;
  }
};

TEST(CsvTextTest, FieldsAndRecordsAreThoseOfTheGoldenFile) {
  expect_session<CsvTexts>("base/csv.txt");
  EXPECT_EQ(csv_skip_empty("\r", 0), 1u);
}

TEST(CsvTextTest, PlacesAreCountedFromOne) {
  EXPECT_EQ(csv_place("f.csv", "ab\ncd\n", 0), "f.csv:1:1");
  EXPECT_EQ(csv_place("f.csv", "ab\ncd\n", 4), "f.csv:2:2");
}

}  // namespace
}  // namespace brigade
