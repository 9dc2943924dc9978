#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/load_text.h"

namespace brigade {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kTwo = "stages:\n  a: {producer: synthetic}\n  b: {producer: synthetic}\n";

TEST(ValidateSources, PortsAreCalledLikeTheStagesUnlessTheyAreNamed) {
  const auto list =
      LoadText()(std::string(kTwo) + "  c: {consumer: count, from: [a, b], join: zip}\n");
  ASSERT_TRUE(list.graph) << list.messages();
  EXPECT_EQ(list.graph->stages[2].sources[1].port, "b");
  EXPECT_EQ(list.graph->stages[2].join, Join::zip);
  const auto map =
      LoadText()(std::string(kTwo) + "  c: {consumer: count, from: {x: a, y: b}, join: epochs}\n");
  ASSERT_TRUE(map.graph) << map.messages();
  EXPECT_EQ(map.graph->stages[2].sources[1].port, "y");
  EXPECT_EQ(map.graph->stages[2].join, Join::epochs);
}

TEST(ValidateSources, OneStageMayFeedSeveral) {
  EXPECT_EQ(messages_of(with_stages("  a: {consumer: show, from: images}\n"
                                    "  b: {consumer: show, from: images}\n")),
            "");
}

TEST(ValidateSources, TwoTensorsOfOneStageMayBeZippedUnderNames) {
  EXPECT_EQ(messages_of(with_stages("  a: {consumer: count, from: {x: images.image, "
                                    "y: images.label}, join: zip}\n")),
            "");
}

TEST(ValidateSources, AMisspelledSourceDoesNotMakeTheOtherUnread) {
  const std::string messages = messages_of(with_stages("  show: {consumer: show, from: image}\n"));
  EXPECT_THAT(messages, HasSubstr("did you mean \"images\"?"));
  EXPECT_THAT(messages, Not(HasSubstr("nobody reads")));
}

TEST(ValidateSources, AJoinOfOneSourceIsAWarning) {
  const auto loaded =
      LoadText()(with_stages("  show: {consumer: show, from: images, join: zip}\n"));
  EXPECT_TRUE(loaded.graph);
  EXPECT_EQ(loaded.graph->stages[1].join, Join::single);
  EXPECT_EQ(loaded.diagnostics.warnings(), 1u);
}

}  // namespace
}  // namespace brigade
