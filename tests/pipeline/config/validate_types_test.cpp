#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/load_text.h"

namespace brigade {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ValidateTypes, TheTypeIsResolved) {
  const auto loaded = LoadText()(with_stages("  show: {consumer: show, from: images}\n"));
  ASSERT_TRUE(loaded.graph);
  EXPECT_EQ(loaded.graph->stages[0].type, fake_stage_types().find("idx_images"));
  EXPECT_EQ(loaded.graph->stages[1].kind, StageKind::consumer);
}

TEST(ValidateTypes, SuggestsTypesOfTheSameKindFirst) {
  EXPECT_THAT(messages_of("stages:\n  a: {producer: synthetik}\n"), HasSubstr("\"synthetic\"?"));
}

TEST(ValidateTypes, AnUnknownTypeDragsNoOtherMistakeBehindIt) {
  const std::string messages =
      messages_of(with_stages("  a: {transform: nothing, from: images, params: {x: 1}}\n"
                              "  train: {consumer: torch_classifier, from: a}\n"));
  EXPECT_THAT(messages, HasSubstr("unknown transform \"nothing\""));
  EXPECT_THAT(messages, Not(HasSubstr("parameter")));
  EXPECT_THAT(messages, Not(HasSubstr("needs the tensor")));
}

TEST(ValidateTypes, KeysOfIndexedProducersAreNotForStreams) {
  EXPECT_EQ(messages_of("stages:\n  a: {producer: synthetic, shuffle: true, limit: 3, seed: 1}\n"
                        "  show: {consumer: show, from: a}\n"),
            "");
  EXPECT_THAT(messages_of("stages:\n  a: {producer: camera, shuffle: true}\n"
                          "  show: {consumer: show, from: a}\n"),
              HasSubstr("this is a stream"));
}

}  // namespace
}  // namespace brigade
