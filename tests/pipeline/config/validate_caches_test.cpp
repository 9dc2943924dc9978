#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "tests/support/fake_types.h"
#include "tests/support/load_text.h"

namespace brigade {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string cached(const std::string& above, const std::string& cache_keys = "",
                   const std::string& below = "") {
  return messages_of(
      with_stages(concat("  cut: {transform: augment_image, from: images, params: {", above, "}}\n",
                         "  kept: {transform: cache, from: cut", cache_keys, "}\n",
                         "  again: {transform: augment_image, from: kept, params: {", below, "}}\n",
                         "  show: {consumer: show, from: again}\n")));
}

TEST(Caches, SayThatWhatIsDrawnAboveThemIsFrozen) {
  EXPECT_THAT(
      cached("flip: 0.5"),
      HasSubstr(
          "warning: stage \"kept\": what \"cut\" draws at random is frozen: it is drawn once, "
          "for all epochs"));
}

TEST(Caches, SayNothingOfWhatIsNotDrawnOrIsBelow) {
  EXPECT_EQ(cached("crop: 20"), "");
  EXPECT_EQ(cached("crop: 20", "", "flip: 0.5"), "");
}

TEST(Caches, OfSeveralEachSpeaksOfThoseDownToTheNext) {
  const std::string said = messages_of(
      with_stages("  a: {transform: augment_image, from: images, params: {flip: 0.5}}\n"
                  "  b: {transform: [passthrough, {augment_image: {flip: 1}}], from: a}\n"
                  "  first: {transform: cache, from: b}\n"
                  "  c: {transform: augment_image, from: first, params: {flip: 0.5}}\n"
                  "  second: {transform: cache, from: c}\n"
                  "  show: {consumer: show, from: second}\n"));
  EXPECT_THAT(said, HasSubstr("stage \"first\": what \"a\" and \"b\" draw at random"));
  EXPECT_THAT(said, HasSubstr("stage \"second\": what \"c\" draws at random"));
}

TEST(Caches, AreShuffledAndCutLikeSources) {
  EXPECT_EQ(cached("crop: 20", ", shuffle: true, seed: 3, limit: 7"), "");
  const auto loaded = LoadText()(
      with_stages("  kept: {transform: cache, from: images, shuffle: true, seed: 3, limit: 7}\n"
                  "  show: {consumer: show, from: kept}\n"));
  ASSERT_TRUE(loaded.graph) << loaded.messages();
  const ValidStage& stage = loaded.graph->stages[1];
  EXPECT_TRUE(stage.shuffle);
  EXPECT_EQ(stage.limit, 7u);
  EXPECT_EQ(stage.seed, 3u);
  EXPECT_EQ(stage.samples, 2u) << "the room it was asked for";
}

TEST(Caches, OtherTransformsAreNot) {
  EXPECT_THAT(messages_of(with_stages("  a: {transform: passthrough, from: images, shuffle: true}\n"
                                      "  show: {consumer: show, from: a}\n")),
              HasSubstr("`shuffle` is for producers that read by index, and caches, this is a "
                        "transform"));
}

TEST(Caches, AreNotAssigned) {
  EXPECT_THAT(cached("crop: 20", ", assign: fixed, replicas: 2"),
              HasSubstr("`assign: fixed` does not go with a cache"));
  EXPECT_EQ(cached("crop: 20", ", assign: shared"), "");
}

TEST(Caches, AreNoLinksOfAChain) {
  EXPECT_THAT(
      messages_of(with_stages("  a: {transform: [passthrough, cache], from: images}\n"
                              "  show: {consumer: show, from: a}\n")),
      HasSubstr("\"cache\" is a source for what is below it, and so cannot be one of several "
                "types of a stage"));
}

TEST(Caches, LearnHowManySamplesThereAreFromContracts) {
  const auto samples = [](const char* count) {
    const auto loaded =
        LoadText()(concat("stages:\n  a: {producer: synthetic, params: {count: ", count,
                          "}}\n  show: {consumer: show, from: a}\n"));
    return loaded.graph ? loaded.graph->stages[0].samples : 1;
  };
  EXPECT_EQ(samples("70"), 70u);
  EXPECT_EQ(samples("13"), 0u) << "a contract may be a user's own code, and throw";
}

}  // namespace
}  // namespace brigade
