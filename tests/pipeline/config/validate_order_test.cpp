#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/load_text.h"

namespace brigade {
namespace {

using testing::HasSubstr;

std::string graph(int producers, const std::string& rest) {
  std::string text = "stages:\n";
  for (int i = 0; i < producers; ++i)
    text += std::string("  ") + static_cast<char>('a' + i) + ": {producer: synthetic}\n";
  return text + rest;
}

TEST(ValidateOrder, ACircleIsFoundAndNamed) {
  EXPECT_THAT(messages_of("stages:\n  x: {transform: passthrough, from: z}\n"
                          "  y: {transform: passthrough, from: x}\n"
                          "  z: {transform: passthrough, from: y}\n"
                          "  show: {consumer: show, from: z}\n"),
              HasSubstr("\"x\" reads \"z\", which reads \"y\", which reads \"x\""));
}

TEST(ValidateOrder, EpochsOfSeparateProducersAreFine) {
  EXPECT_EQ(messages_of(graph(2,
                              "  x: {transform: passthrough, from: a}\n"
                              "  c: {consumer: count, from: [x, b], join: epochs}\n"
                              "  d: {consumer: count, from: x}\n")),
            "");
}

TEST(ValidateOrder, TwoConsumersMayTakeEpochsInTheSameOrder) {
  EXPECT_EQ(messages_of(graph(2,
                              "  c: {consumer: count, from: [a, b], join: epochs}\n"
                              "  d: {consumer: count, from: [a, b], join: epochs}\n")),
            "");
}

// Each of these would stand still for good: a ring that one source fills waits for the other.
TEST(ValidateOrder, EpochsThatWouldWaitForEachOtherAreRefused) {
  EXPECT_THAT(messages_of(graph(1,
                                "  x: {transform: passthrough, from: a}\n"
                                "  c: {consumer: count, from: [x, a], join: epochs}\n")),
              HasSubstr("fed together"));
  EXPECT_THAT(messages_of(graph(1, "  c: {consumer: count, from: {p: a, q: a}, join: epochs}\n")),
              HasSubstr("fed together"));
  EXPECT_THAT(messages_of(graph(2,
                                "  z: {consumer: count, from: [a, b], join: zip}\n"
                                "  c: {consumer: count, from: [a, b], join: epochs}\n")),
              HasSubstr("fed together"));
  EXPECT_THAT(messages_of(graph(3,
                                "  x: {consumer: count, from: [a, b], join: epochs}\n"
                                "  y: {consumer: count, from: [b, c], join: epochs}\n"
                                "  z: {consumer: count, from: [c, a], join: epochs}\n")),
              HasSubstr("another consumer reads them in another order"));
}

TEST(ValidateOrder, ALongLineIsSorted) {
  std::string text = "stages:\n  show: {consumer: show, from: s200}\n";
  for (int i = 200; i > 0; --i)
    text += "  s" + std::to_string(i) + ": {transform: passthrough, from: s" +
            std::to_string(i - 1) + "}\n";
  const auto loaded = LoadText()(text + "  s0: {producer: synthetic}\n");
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  EXPECT_EQ(loaded.graph->stages.front().name, "s0");
  EXPECT_EQ(loaded.graph->stages.back().name, "show");
}

}  // namespace
}  // namespace brigade
