#include <brigade/params.h>

#include <gtest/gtest.h>

#include <limits>

#include <brigade/contract.h>
#include "tests/support/message_of.h"

namespace brigade {
namespace {

ParamValue list(std::initializer_list<const char*> items) {
  ParamValue out;
  out.kind = ParamValue::Kind::list;
  for (const char* item : items) out.items.push_back(ParamValue::scalar(item));
  return out;
}

template <class T>
std::string error_of(const ParamValue& value) {
  T out{};
  return message_of(parse_param(value, out));
}

template <class T>
std::string error_of(const char* text) {
  return error_of<T>(ParamValue::scalar(text));
}

template <class T>
T parsed(const ParamValue& value) {
  T out{};
  const auto result = parse_param(value, out);
  EXPECT_TRUE(result) << result.error().message;
  return out;
}

template <class T>
void expect_round_trip(const T& value) {
  EXPECT_EQ(parsed<T>(print_param(value)), value);
}

TEST(ParamsTest, MapsSayWhichEntryIsWrong) {
  const std::string files = "expected a map of names to files such as {a: a.npy}, found ";
  EXPECT_EQ(error_of<InputPaths>("x.npy"), files + "\"x.npy\"");
  EXPECT_EQ(error_of<InputPaths>(list({"x.npy"})), files + "a list");
  ParamValue map;
  map.kind = ParamValue::Kind::map;
  map.entries = {{"image", ParamValue::scalar("a")}, {"label", list({"b"})}};
  EXPECT_EQ(error_of<InputPaths>(map), "\"label\": expected a path, found a list");
  EXPECT_EQ(error_of<TextMap>("x"),
            "expected a map of names to texts such as {a: b, c: [d, e]}, found \"x\"");
  EXPECT_EQ(parsed<TextMap>(map).find("label")->texts, std::vector<std::string>{"b"});
  EXPECT_EQ(parsed<TextMap>(map).find("none"), nullptr);
  map.entries[0].second = map;
  EXPECT_EQ(error_of<TextMap>(map), "\"image\": expected a text, found a map");
}

TEST(ParamsTest, FilesAreOneOrAList) {
  const std::string files =
      "expected a file or a list of files such as train-{000..146}.tar, found ";
  EXPECT_EQ(parsed<InputFiles>(ParamValue::scalar("a.tar")).patterns,
            std::vector<std::string>{"a.tar"});
  EXPECT_EQ(error_of<InputFiles>(""), files + "\"\"");
  EXPECT_EQ(error_of<InputFiles>(list({})), files + "a list");
  EXPECT_EQ(error_of<InputFiles>(ParamValue{}), files + "nothing");
  EXPECT_EQ(error_of<InputFiles>(list({"a", ""})), "item 2: expected a path, found \"\"");
}

TEST(ParamsTest, EveryTypeReadsWhatItPrints) {
  expect_round_trip(true);
  expect_round_trip(std::numeric_limits<int>::min());
  expect_round_trip(std::numeric_limits<std::int64_t>::min());
  expect_round_trip(std::numeric_limits<std::uint64_t>::max());
  expect_round_trip(0.1);
  expect_round_trip(5e-324);
  expect_round_trip(1.7976931348623157e308);
  expect_round_trip(std::string("two words: \n"));
  expect_round_trip(std::string());
  expect_round_trip(bf16);
  expect_round_trip(std::vector<std::int64_t>{1, -2, 3});
  expect_round_trip(std::vector<double>{0.5, 1e-9});
  expect_round_trip(std::vector<std::string>{"a", ""});
  expect_round_trip(std::vector<std::string>{});
  EXPECT_EQ(parsed<InputPath>(print_param(InputPath{"a b"})).path, "a b");
  const InputPaths files{{{"image", "b.npy"}, {"a", "/x"}}};
  EXPECT_EQ(parsed<InputPaths>(print_param(files)).files, files.files);
  const InputFiles shards{{"a-{0..9}.tar", "/b/*.tar"}};
  EXPECT_EQ(parsed<InputFiles>(print_param(shards)).patterns, shards.patterns);
  const TextMap texts{{{"x", {"a"}, false}, {"b", {"a"}, true}, {"c", {}, true}}};
  EXPECT_EQ(parsed<TextMap>(print_param(texts)).entries, texts.entries);
  EXPECT_EQ(parsed<OutputPath>(print_param(OutputPath{"x.pt"})).path, "x.pt");
  EXPECT_EQ(parsed<ByteSize>(print_param(ByteSize{3 << 20})).bytes, 3u << 20);
  EXPECT_EQ(parsed<Duration>(print_param(Duration{1500})).nanoseconds, 1500);
}

TEST(ParamsTest, FlagsAreTrueOrFalse) {
  EXPECT_EQ(error_of<bool>("yes"), "expected true or false, found \"yes\"");
  EXPECT_EQ(error_of<bool>("True"), "expected true or false, found \"True\"");
  EXPECT_EQ(error_of<bool>(ParamValue{}), "expected true or false, found nothing");
}

TEST(ParamsTest, WholeNumbersAreStrict) {
  for (const char* text : {"fast", "", " 1", "1 ", "1.0", "1e3", "+1", "0x10", "1_000", "-"})
    EXPECT_EQ(error_of<int>(text), "expected a whole number, found \"" + std::string(text) + "\"");
  EXPECT_EQ(error_of<std::uint64_t>(list({"1"})), "expected a whole number, found a list");
}

TEST(ParamsTest, WholeNumbersThatDoNotFitSayTheRange) {
  EXPECT_EQ(error_of<int>("2147483648"),
            "expected a whole number from -2147483648 to 2147483647, found \"2147483648\"");
  EXPECT_EQ(error_of<std::uint64_t>("-1"),
            "expected a whole number from 0 to 18446744073709551615, found \"-1\"");
}

TEST(ParamsTest, NumbersAreFiniteDecimals) {
  EXPECT_EQ(parsed<double>(ParamValue::scalar("1e-3")), 1e-3);
  EXPECT_EQ(parsed<double>(ParamValue::scalar("-2")), -2);
  for (const char* text : {"nan", "inf", ".inf", "1e999", "0,5", "1.5s", ""})
    EXPECT_EQ(error_of<double>(text), "expected a number, found \"" + std::string(text) + "\"");
}

TEST(ParamsTest, TextsAreScalars) {
  EXPECT_EQ(error_of<std::string>(list({"a"})), "expected a text, found a list");
  EXPECT_EQ(error_of<std::string>(ParamValue{ParamValue::Kind::map, "", {}, {}}),
            "expected a text, found a map");
}

TEST(ParamsTest, PathsAreNotEmptyButMayBeMissing) {
  EXPECT_EQ(print_param(InputPath{}), ParamValue{});
  EXPECT_EQ(parsed<InputPath>(ParamValue{}).path, "");
  EXPECT_EQ(parsed<OutputPath>(ParamValue{}).path, "");
  EXPECT_EQ(error_of<OutputPath>(list({"a"})),
            "expected the path of a file to write, found a list");
  EXPECT_EQ(error_of<InputPath>(""), "expected the path of a file or folder, found \"\"");
  EXPECT_EQ(error_of<OutputPath>(""), "expected the path of a file to write, found \"\"");
}

TEST(ParamsTest, SizesDurationsAndDTypesSayWhatTheyExpect) {
  EXPECT_EQ(error_of<ByteSize>(list({})), "expected a size such as 64MiB, found a list");
  EXPECT_NE(error_of<ByteSize>("64MB").find("did you mean MiB"), std::string::npos);
  EXPECT_EQ(error_of<Duration>(ParamValue{}), "expected a duration such as 100ms, found nothing");
  EXPECT_NE(error_of<Duration>("100").find("needs a unit"), std::string::npos);
  EXPECT_EQ(error_of<DType>("u9"),
            "expected a dtype (bool u8 i8 i16 i32 i64 f16 bf16 f32 f64), found \"u9\"");
}

TEST(ParamsTest, ListsNameTheItemAndAreNotHalfChanged) {
  std::vector<std::int64_t> out{7};
  EXPECT_EQ(message_of(parse_param(list({"1", "two"}), out)),
            "item 2: expected a whole number, found \"two\"");
  EXPECT_EQ(out, std::vector<std::int64_t>{7});
  EXPECT_EQ(error_of<std::vector<std::int64_t>>("3"),
            "expected a list of whole numbers such as [1, 2], found \"3\"");
}

struct Knobs {
  double chance = 0.5;
  int count = 3;
  std::vector<std::int64_t> sizes = {1};
  ByteSize memory{1 << 20};
  Duration wait{1000};
  double positive = 1;
};

class SetParamTest : public testing::Test {
 protected:
  std::string set(const char* name, const ParamValue& value) {
    return message_of(set_param(*contract_.find_param(name), &knobs_, value), "");
  }
  std::string set(const char* name, const char* text) {
    return set(name, ParamValue::scalar(text));
  }

  const StageContract contract_ =
      Contract<Knobs>("knobs", "Has knobs.")
          .param("chance", &Knobs::chance, 0, 1, "probability")
          .param("count", &Knobs::count, 1, 8, "how many")
          .param("sizes", &Knobs::sizes, 1, 16, "sizes in pixels")
          .param("memory", &Knobs::memory, 4096, 1 << 30, "bytes")
          .param("wait", &Knobs::wait, 0, 1e9, "per call")
          .param("positive", &Knobs::positive, 0, std::numeric_limits<double>::infinity(), "x")
          .erased();
  Knobs knobs_;
};

TEST_F(SetParamTest, InsideTheRangeIsStored) {
  EXPECT_EQ(set("chance", "1"), "");
  EXPECT_EQ(knobs_.chance, 1);
  EXPECT_EQ(set("sizes", list({"1", "16"})), "");
  EXPECT_EQ(knobs_.sizes, (std::vector<std::int64_t>{1, 16}));
  EXPECT_EQ(set("memory", "1GiB"), "");
  EXPECT_EQ(set("wait", "1s"), "");
}

TEST_F(SetParamTest, OutsideTheRangeIsAnErrorAndChangesNothing) {
  EXPECT_EQ(set("chance", "1.5"), "expected a number from 0 to 1, found \"1.5\"");
  EXPECT_EQ(knobs_.chance, 0.5);
  EXPECT_EQ(set("count", "0"), "expected a whole number from 1 to 8, found \"0\"");
  EXPECT_EQ(knobs_.count, 3);
  EXPECT_EQ(set("memory", "1KiB"),
            "expected a size such as 64MiB from 4KiB to 1GiB, found \"1KiB\"");
  EXPECT_EQ(set("wait", "2s"), "expected a duration such as 100ms from 0s to 1s, found \"2s\"");
  EXPECT_EQ(set("positive", "-1"), "expected a number of at least 0, found \"-1\"");
}

TEST_F(SetParamTest, ListsAreCheckedItemByItem) {
  EXPECT_EQ(set("sizes", list({"1", "17"})),
            "item 2: expected a whole number from 1 to 16, found \"17\"");
  EXPECT_EQ(knobs_.sizes, std::vector<std::int64_t>{1});
}

TEST_F(SetParamTest, AnErrorOfTheValueComesFirst) {
  EXPECT_EQ(set("count", "many"), "expected a whole number, found \"many\"");
}

}  // namespace
}  // namespace brigade
