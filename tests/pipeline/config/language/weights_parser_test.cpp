#include "pipeline/config/language/weights_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include <brigade/text.h>

namespace brigade {
namespace {

using testing::HasSubstr;

std::string npy(const std::string& descr, const std::string& shape, const std::string& data) {
  std::string header =
      concat("{'descr': '", descr, "', 'fortran_order': False, 'shape': ", shape, ", }");
  header.resize(117, ' ');
  return concat(std::string("\x93NUMPY\x01\x00", 8), std::string("\x76\x00", 2), header, "\n",
                data);
}

template <class Number>
std::string bytes(const std::vector<Number>& numbers) {
  std::string out(numbers.size() * sizeof(Number), '\0');
  std::memcpy(out.data(), numbers.data(), out.size());
  return out;
}

std::string problem_of_file(const std::string& text) {
  const auto weights = parse_weights_file("w", text);
  return weights ? "" : weights.error().message;
}

TEST(WeightsFile, IsAColumnOfATable) {
  const std::string table = "path,\"my weight\"\na.jpg,1\n\n\"b,c.jpg\", 0.5 \n";
  EXPECT_EQ(parse_weights_file("w.csv", table, "my weight").value(), (std::vector<double>{1, 0.5}));
  EXPECT_EQ(parse_weights_file("w.csv", "a,1\nb,2\n", "2").value(), (std::vector<double>{1, 2}));
  EXPECT_EQ(parse_weights_file("w.tsv", "x\ty\n3\t4\n", "y").value(), (std::vector<double>{4}));
  const auto problem = [](const std::string& text, const std::string& column) {
    const auto weights = parse_weights_file("w.csv", text, column);
    return weights ? "" : weights.error().message;
  };
  EXPECT_THAT(problem("a,b\n1,2\n", "c"), HasSubstr("\"c\""));
  EXPECT_EQ(problem("a,b\n1,2\n3,x\n", "b"), "w.csv:3:3: expected a number, found \"x\"");
  EXPECT_EQ(problem("a,b\n1,-2\n", "b"), "w.csv:2:3: a weight is not negative, found -2");
  EXPECT_EQ(problem("a,b\n1,2\n3\n", "b"), "w.csv:3:1: has 1 fields, none of them for \"b\"");
  EXPECT_EQ(problem("1,2\n3\n", "2"), "w.csv:2:1: has 1 fields, none of them for \"2\"");
}

TEST(WeightsFile, HasANumberInEachLine) {
  EXPECT_EQ(parse_weights_file("w", "1\n 0.5 \r\n\n1e3").value(),
            (std::vector<double>{1, 0.5, 1000}));
  EXPECT_EQ(problem_of_file("1\nx\n"), "w:2: expected a number, found \"x\"");
  EXPECT_EQ(problem_of_file("1\n2 3\n"), "w:2: expected a number, found \"2 3\"");
  EXPECT_EQ(problem_of_file("1\n-2\n"), "w:2: a weight is not negative, found -2");
  EXPECT_EQ(problem_of_file("nan\n"), "w:1: a weight is a number, found nan");
  EXPECT_EQ(problem_of_file("inf\n"), "w:1: a weight is at most 1e30, found inf");
}

TEST(WeightsFile, OrIsAnArray) {
  EXPECT_EQ(parse_weights_file("w", npy("<f4", "(2,)", bytes<float>({0.5, 2}))).value(),
            (std::vector<double>{0.5, 2}));
  EXPECT_EQ(parse_weights_file("w", npy("<i8", "(2,)", bytes<std::int64_t>({3, 0}))).value(),
            (std::vector<double>{3, 0}));
  EXPECT_THAT(problem_of_file(npy("<f8", "(1, 2)", bytes<double>({1, 2}))),
              HasSubstr("w: expected a number for each sample, found f64[1, 2]"));
  EXPECT_THAT(problem_of_file(npy("<f8", "(2,)", bytes<double>({1}))),
              HasSubstr("does not match the size"));
  EXPECT_THAT(problem_of_file(npy("<f2", "(2,)", "abcd")), HasSubstr("f32 or f64, found f16[2]"));
  EXPECT_EQ(problem_of_file(npy("<f8", "(2,)", bytes<double>({1, -1}))),
            "w: sample 1: a weight is not negative, found -1");
}

TEST(WeightsText, IsReadBack) {
  EXPECT_EQ(print_number(0.1), "0.1");
  Weights weights;
  EXPECT_EQ(weights_text(weights), "");
  weights.classes = {{"cat", 2}, {"others", 0.5}};
  EXPECT_EQ(weights_text(weights), "cat: 2, others: 0.5");
  weights = {};
  weights.balanced = true;
  EXPECT_EQ(weights_text(weights), "balanced");
}

}  // namespace
}  // namespace brigade
