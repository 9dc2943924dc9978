#include "stages/basic/csv_table.h"
#include "stages/basic/csv_text.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <brigade/harness.h>
#include <brigade/labels.h>
#include "stages/basic/basic_stages.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using namespace testing_support;

class CsvTest : public testing::Test {
 protected:
  CsvTest() { add_csv(types_); }

  Result<std::unique_ptr<StageHarness>> open(const std::string& text, ParamTexts params) {
    path_ = folder_.write("t.csv", text);
    params.emplace_back("file", path_);
    return StageHarness::open(types_.all()[0], {std::move(params), {}, {}});
  }
  /// Of opening, or else of reading the first record.
  std::string error_of(const std::string& text, ParamTexts params) {
    const auto stage = open(text, std::move(params));
    if (!stage) return without_path(stage.error().message);
    const auto call = (*stage)->read(0);
    return call ? "no error" : without_path(call.error().message);
  }
  std::string without_path(const std::string& message) {
    const auto rest = strip_prefix(message, path_);
    return rest ? std::string(*rest) : message;
  }

  StageTypes types_;
  TemporaryFolder folder_;
  std::string path_;
};

const std::string kTable =
    "name,width,height,kind\r\n"
    "rose,1.5,2,0\r\n"
    "\r\n"
    "\"lily, white\",-0.25,1e2,1\r\n";

std::string text_of(const HostTensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()};
}

TEST_F(CsvTest, TheFingerprintIsThatOfTheText) {
  const auto fingerprint = [this](const std::string& text) {
    return open(text, {{"columns", "{w: width}"}}).value()->producer().fingerprint();
  };
  const std::uint64_t first = fingerprint(kTable);
  EXPECT_NE(first, 0u);
  EXPECT_EQ(fingerprint(kTable), first);
  EXPECT_NE(fingerprint(kTable + "tulip,1,1,1\n"), first);
}

TEST_F(CsvTest, ItsContractCountsTheRecordsAndBlankLinesOfASmallTable) {
  const StageContract& contract = types_.all()[0].contract;
  const ParamTexts texts{{"file", folder_.write("t.csv", kTable)}, {"columns", "{w: width}"}};
  const auto params = make_params(contract, texts).value();
  EXPECT_EQ(contract.samples(params.get(), read_metadata(contract, texts)),
            SampleCount(2, {{SkipReason::blank, 1, "blank lines"}}));
}

TEST_F(CsvTest, ColumnsBecomeTensors) {
  const auto stage =
      open(kTable, {{"columns", "{size: [height, width], label: kind, one: [kind], name: name}"},
                    {"dtypes", "{label: i64, name: text, one: bool}"},
                    {"text_bytes", "20"}})
          .value();
  EXPECT_EQ(stage->outputs(), (Ports{{"size", f32, {2}},
                                     {"label", i64, {}},
                                     {"one", boolean, {1}},
                                     {"name", u8, {up_to(20)}}}));
  ASSERT_EQ(*stage->producer().size(), 2u);
  const HarnessCall call = stage->read(1).value();
  EXPECT_EQ(call["size"].as<float>(), (std::vector<float>{100, -0.25}));
  EXPECT_EQ(call["label"].as<std::int64_t>(), std::vector<std::int64_t>{1});
  EXPECT_EQ(call["one"].as<bool>(), std::vector<bool>{true});
  EXPECT_EQ(text_of(call["name"]), "lily, white");
  EXPECT_EQ(text_of(stage->read(0).value()["name"]), "rose");
  EXPECT_EQ(stage->producer().describe(1), "t.csv:4:1");
}

TEST_F(CsvTest, FixedTextsAreFilledUpWithZeros) {
  const auto stage = open(kTable, {{"columns", "{name: name}"},
                                   {"dtypes", "{name: text}"},
                                   {"text_bytes", "12"},
                                   {"text_shape", "fixed"}})
                         .value();
  EXPECT_EQ(stage->outputs(), (Ports{{"name", u8, {12}}}));
  EXPECT_EQ(text_of(stage->read(0).value()["name"]), "rose" + std::string(8, '\0'));
}

const std::string kWithGaps =
    "name,age,kind\n"
    ",,0\n"
    "\"\",7,\n"
    "lily, ,1\n"
    "rose,1,\"\"\n"
    "tulip,2,3\n";

TEST_F(CsvTest, AValueStandsForWhatIsMissing) {
  const auto stage = open(kWithGaps, {{"columns", "{name: name, x: [age, age], label: kind}"},
                                      {"dtypes", "{name: text, label: i64}"},
                                      {"missing", "{name: none, x: nan, label: -1}"}})
                         .value();
  ASSERT_EQ(*stage->producer().size(), 5u);
  EXPECT_EQ(text_of(stage->read(0).value()["name"]), "none");
  EXPECT_EQ(text_of(stage->read(1).value()["name"]), "");
  EXPECT_TRUE(std::isnan(stage->read(2).value()["x"].as<float>()[1]));
  EXPECT_EQ(stage->read(1).value()["x"].as<float>()[1], 7);
  EXPECT_EQ(stage->read(1).value()["label"].as<std::int64_t>()[0], -1);
  auto& labels = dynamic_cast<TellsLabels&>(stage->producer());
  EXPECT_EQ(*labels.label_of(3), -1);
}

TEST_F(CsvTest, RecordsWithoutAValueAreLeftOutAndCounted) {
  const ParamTexts texts{{"columns", "{name: name, age: age, label: kind}"},
                         {"dtypes", "{name: text, label: i64}"},
                         {"missing", "{label: drop, name: drop, age: 0}"}};
  std::string table = kWithGaps;
  for (int i = 0; i < 40; ++i) table += "x," + std::to_string(i) + (i % 3 == 0 ? ",\n" : ",5\n");
  const auto stage = open(table, texts).value();
  ASSERT_EQ(*stage->producer().size(), 28u);
  EXPECT_EQ(stage->read(0).value()["age"].as<float>()[0], 0);
  EXPECT_EQ(stage->producer().describe(0), "t.csv:4:1");
  for (std::uint64_t i = 28; i-- > 2;)
    EXPECT_EQ(stage->read(i).value()["age"].as<float>()[0], (i - 2) / 2 * 3 + i % 2 + 1);
  const std::vector<SkippedInputs> skipped{
      {SkipReason::blank, 17, "records with nothing in name or label"}};
  EXPECT_EQ(dynamic_cast<SkipsInputs&>(stage->producer()).skipped(), skipped);
  const StageContract& contract = types_.all()[0].contract;
  ParamTexts all = texts;
  all.emplace_back("file", path_);
  EXPECT_EQ(
      contract.samples(make_params(contract, all).value().get(), read_metadata(contract, all)),
      SampleCount(28, skipped));
}

TEST_F(CsvTest, AnEmptyLineOfATableWithOneColumnIsMissingToo) {
  const std::string table = "x\n1\n\n\"\"\n3\n\n";
  const auto stage = open(table, {{"columns", "{x: x}"}, {"missing", "{x: -1}"}}).value();
  ASSERT_EQ(*stage->producer().size(), 5u);
  for (const auto& [i, x] : {std::pair(0, 1), {1, -1}, {2, -1}, {3, 3}, {4, -1}})
    EXPECT_EQ(stage->read(static_cast<std::uint64_t>(i)).value()["x"].as<float>()[0], x);
  EXPECT_EQ(
      *open(table, {{"columns", "{x: x}"}, {"missing", "{x: drop}"}}).value()->producer().size(),
      2u);
  EXPECT_EQ(*open(table, {{"columns", "{x: x}"}}).value()->producer().size(), 3u);
}

TEST_F(CsvTest, MistakesInMissingAreErrors) {
  const auto with = [this](const std::string& missing) {
    return error_of(kWithGaps, {{"columns", "{name: name, label: kind}"},
                                {"dtypes", "{label: i64, name: text}"},
                                {"text_bytes", "4"},
                                {"missing", missing}});
  };
  EXPECT_EQ(with("{label: x}"),
            "missing: \"label\": expected a whole number, found \"x\"; drop leaves the sample out");
  EXPECT_EQ(with("{name: empty}"), "missing: \"name\": a text of 5 bytes, but text_bytes is 4");
  EXPECT_EQ(with("{label: [1]}"), "missing: \"label\": expected a value, or drop");
  EXPECT_EQ(with("{kind: 1}"), "missing: there is no tensor \"kind\" in columns");
  EXPECT_EQ(error_of("a\n\n", {{"columns", "{a: a}"}, {"missing", "{a: drop}"}}),
            ": has only records with nothing in a");
}

TEST_F(CsvTest, LinesThatEndInCrAloneAreAnError) {
  EXPECT_EQ(
      error_of("a,b\r1,2\r3,4\r", {{"columns", "{a: a}"}}),
      ": its lines end in CR alone, as on the first Macs; write LF (tr '\\r' '\\n' < FILE > NEW)");
  EXPECT_EQ(error_of("\"a\rb\",1", {{"columns", "{x: 2}"}, {"header", "false"}}), "no error");
}

TEST_F(CsvTest, WithoutAHeaderColumnsAreNumbered) {
  const auto stage = open("7;8;9\n1;2;3\n", {{"columns", "{x: [3, 1]}"},
                                             {"dtypes", "{x: i16}"},
                                             {"header", "false"},
                                             {"separator", ";"}})
                         .value();
  ASSERT_EQ(*stage->producer().size(), 2u);
  EXPECT_EQ(stage->read(0).value()["x"].as<std::int16_t>(), (std::vector<std::int16_t>{9, 7}));
}

TEST_F(CsvTest, EveryDtypeIsRead) {
  const std::string table = "a\n 1\n";
  for (const char* dtype : {"bool", "u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"}) {
    const auto stage =
        open(table, {{"columns", "{a: a}"}, {"dtypes", "{a: " + std::string(dtype) + "}"}}).value();
    const HostTensor value = stage->read(0).value()["a"];
    EXPECT_EQ(dtype_name(value.dtype), dtype);
    if (value.dtype == f64) {
      EXPECT_EQ(value.as<double>()[0], 1);
    }
    if (value.dtype == f16) {
      EXPECT_EQ(value.as<Half>()[0].bits, 0x3c00);
    }
    if (value.dtype == bf16) {
      EXPECT_EQ(value.as<BFloat16>()[0].bits, 0x3f80);
    }
  }
}

TEST_F(CsvTest, WrongValuesAreNamedWithLineAndColumn) {
  const ParamTexts ints = {{"columns", "{b: b}"}, {"dtypes", "{b: u8}"}};
  EXPECT_EQ(error_of("a,b\n\n1, x\n", ints), ":3:3: expected a whole number, found \"x\"");
  EXPECT_EQ(error_of("a,b\n1,\n", ints),
            ":2:3: expected a whole number, found nothing; `missing: {b: VALUE}` says what stands "
            "for it");
  EXPECT_EQ(error_of("a,b\n1,+-5\n", ints), ":2:3: expected a whole number, found \"+-5\"");
  EXPECT_EQ(error_of("a,b\n1,300\n", ints), ":2:3: expected a number that fits u8, found \"300\"");
  EXPECT_EQ(error_of("a,b\n1,1.5\n", {{"columns", "{b: b}"}, {"dtypes", "{b: bool}"}}),
            ":2:3: expected true, false, 1 or 0, found \"1.5\"");
  EXPECT_EQ(error_of("a,b\n1,2,3\n", ints),
            ":2:1: expected 2 fields as in the first line, found 3");
  EXPECT_EQ(error_of("a,b\n\"1\"x,2\n", ints),
            ":2:4: expected \",\" or the end of the line after a closing quote, found \"x\"");
  EXPECT_EQ(error_of("a,b\nx,1234\n",
                     {{"columns", "{b: b}"}, {"dtypes", "{b: text}"}, {"text_bytes", "3"}}),
            ":2:3: a text of 4 bytes, but text_bytes is 3");
}

TEST_F(CsvTest, OneWrongLineLeavesTheOthers) {
  const auto stage = open("a\n1\nx\n3\n", {{"columns", "{a: a}"}}).value();
  EXPECT_FALSE(stage->read(1));
  EXPECT_EQ(stage->read(2).value()["a"].as<float>()[0], 3);
}

TEST_F(CsvTest, WrongParametersAreFoundBeforeAnythingRuns) {
  const std::string table = "width,width2,x,x\n1,2,3,4\n";
  EXPECT_EQ(error_of(table, {{"columns", "{a: widht}"}}),
            ": has no column \"widht\"; did you mean \"width\"?");
  EXPECT_EQ(error_of(table, {{"columns", "{a: zebra}"}}),
            ": has no column \"zebra\"; it has width, width2, x and x");
  EXPECT_EQ(error_of(table, {{"columns", "{a: x}"}}), ": has several columns \"x\"");
  EXPECT_EQ(error_of(table, {{"columns", "{}"}}),
            "no columns are chosen; write `columns: {TENSOR: COLUMN}`");
  EXPECT_EQ(error_of(table, {{"columns", "{a: []}"}}),
            "columns: \"a\": expected a column or a list of them");
  EXPECT_EQ(error_of(table, {{"columns", "{a: width}"}, {"dtypes", "{a: f7}"}}),
            "dtypes: \"a\": expected a dtype or text, found \"f7\"");
  EXPECT_EQ(error_of(table, {{"columns", "{a: width}"}, {"dtypes", "{b: f32}"}}),
            "dtypes: there is no tensor \"b\" in columns");
  EXPECT_EQ(error_of(table, {{"columns", "{a: [width]}"}, {"dtypes", "{a: text}"}}),
            "columns: \"a\": a text is one column, not a list");
  EXPECT_EQ(error_of(table, {{"columns", "{a: width}"}, {"separator", "::"}}),
            "separator is one character such as \",\" or \"\\t\", found \"::\"");
}

TEST_F(CsvTest, FilesWithoutATableAreErrors) {
  const ParamTexts columns = {{"columns", "{a: a}"}};
  EXPECT_EQ(error_of("", columns), ": has no lines");
  EXPECT_EQ(error_of("a\n", columns), ": has no lines with data");
  EXPECT_EQ(error_of("a\n1\n\"2\n3\n", columns), ":3:1: a quote in this record is never closed");
  EXPECT_EQ(error_of("\xff\xfe"
                     "a",
                     columns),
            ": is in UTF-16; save it as UTF-8");
  EXPECT_EQ(error_of("\"" + std::string(70'000, 'a'), columns),
            ":1:1: the first line does not end within 64 KiB; is a quote not closed?");
}

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
