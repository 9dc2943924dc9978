#include <brigade/params.h>

#include <gtest/gtest.h>

#include <limits>

#include <brigade/contract.h>
#include <brigade/harness/params.h>
#include "tests/support/word_for_word.h"

namespace brigade {
namespace {

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
  EXPECT_EQ(texts.find("b")->texts, std::vector<std::string>{"a"});
  EXPECT_EQ(texts.find("none"), nullptr);
  EXPECT_EQ(parsed<OutputPath>(print_param(OutputPath{"x.pt"})).path, "x.pt");
  EXPECT_EQ(parsed<ByteSize>(print_param(ByteSize{3 << 20})).bytes, 3u << 20);
  EXPECT_EQ(parsed<Duration>(print_param(Duration{1500})).nanoseconds, 1500);
}

struct Knobs {
  bool flag = true;
  int number = 7;
  std::uint64_t natural = 7;
  double real = 7;
  std::string text = "seven";
  InputPath path;
  OutputPath output;
  ByteSize size{1 << 20};
  Duration time{1000};
  DType dtype = f32;
  std::vector<std::int64_t> numbers = {7};
  std::vector<double> reals = {7};
  std::vector<std::string> texts;
  InputPaths inputs;
  InputFiles files;
  TextMap names;
};

const StageContract kKnobs =
    Contract<Knobs>("knobs", "One parameter of each type, and some with a range.")
        .param("flag", &Knobs::flag, "")
        .param("number", &Knobs::number, "")
        .param("natural", &Knobs::natural, "")
        .param("real", &Knobs::real, "")
        .param("text", &Knobs::text, "")
        .param("path", &Knobs::path, "")
        .param("output", &Knobs::output, "")
        .param("size", &Knobs::size, "")
        .param("time", &Knobs::time, "")
        .param("dtype", &Knobs::dtype, "")
        .param("numbers", &Knobs::numbers, "")
        .param("reals", &Knobs::reals, "")
        .param("texts", &Knobs::texts, "")
        .param("inputs", &Knobs::inputs, "")
        .param("files", &Knobs::files, "")
        .param("names", &Knobs::names, "")
        .param("chance_in_0_1", &Knobs::real, 0, 1, "")
        .param("number_in_1_8", &Knobs::number, 1, 8, "")
        .param("numbers_in_1_16", &Knobs::numbers, 1, 16, "")
        .param("size_in_4KiB_1GiB", &Knobs::size, 4096, 1 << 30, "")
        .param("time_in_0_1s", &Knobs::time, 0, 1e9, "")
        .param("real_from_0", &Knobs::real, 0, std::numeric_limits<double>::infinity(), "")
        .erased();

/// As YAML reads it: '' is an empty text, ~ nothing.
ParamValue value_of(ParamValue value) {
  if (value.text == "''") value.text.clear();
  if (value.text == "~") return {};
  for (ParamValue& item : value.items) item = value_of(item);
  for (auto& [name, entry] : value.entries) entry = value_of(entry);
  return value;
}

std::string shown(const ParamValue& value) {
  std::vector<std::string> parts;
  for (const ParamValue& item : value.items) parts.push_back(shown(item));
  for (const auto& [name, entry] : value.entries) parts.push_back(name + ": " + shown(entry));
  if (value.kind == ParamValue::Kind::list) return "[" + join(parts, ", ") + "]";
  if (value.kind == ParamValue::Kind::map) return "{" + join(parts, ", ") + "}";
  return value.kind == ParamValue::Kind::scalar ? quote(value.text) : "nothing";
}

/// Sets parameters, `NAME VALUE | VALUE`: an error and what stands there then, as after each one.
struct SetParams {
  Knobs knobs;

  std::string answer(std::string_view line) {
    const auto [name, values] = parted(line, " ");
    const ParamSpec& spec = *kKnobs.find_param(name);
    std::string out;
    for (const std::string& text : pieces(values)) {
      const auto value = value_of(testing_support::param_value(unescaped(text)));
      const auto set = set_param(spec, &knobs, value);
      out += concat(set ? "" : concat(set.error().message, "; it stays "), shown(spec.get(&knobs)),
                    "\n");
    }
    return out;
  }
};

TEST(ParamsTest, AreSetAndRefusedWordForWord) { expect_session<SetParams>("base/params.txt"); }

}  // namespace
}  // namespace brigade
