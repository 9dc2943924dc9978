#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <brigade/text.h>
#include "tests/support/config/load_text.h"

namespace brigade {
namespace {

using testing::HasSubstr;

/// Of two sources with these keys; the second has so many samples, the first 100.
std::string said(const std::string& first, const std::string& second, int samples = 100) {
  return messages_of(concat("stages:\n  one: {producer: synthetic, params: {count: 100}, ", first,
                            "}\n  two: {producer: synthetic, params: {count: ", samples, "}, ",
                            second, "}\n  a: {consumer: show, from: one}\n",
                            "  b: {consumer: show, from: two}\n"));
}

const std::string kTrain = "split: {train: 0.9, seed: 1}, part: train";
const std::string kVal = "split: {train: 0.9, seed: 1}, part: val";

TEST(ValidateSubsets, PartsOfOneSplitFit) {
  EXPECT_EQ(said(kTrain, kVal), "");
  EXPECT_EQ(said(kTrain, kTrain), "") << "one part may be read twice";
  EXPECT_EQ(said("split: {train: 90%, val: 5%}, part: val, limit: 10%, skip: 3",
                 "split: {val: 0.05, train: 0.9}, part: test, skip: 3"),
            "");
}

TEST(ValidateSubsets, SplitAndPartStandTogether) {
  EXPECT_THAT(said("part: train", kVal),
              HasSubstr("`part` names a part of `split:`, which is not"));
  EXPECT_THAT(said("split: {train: 0.9}", "limit: 3"),
              HasSubstr("`split` without `part`: which part is read?"));
}

TEST(ValidateSubsets, ASplitThatCannotBeReadIsOneMistake) {
  for (const char* split : {"{all: 1.0}", "{a: 1.5}", "0.5", "{}"}) {
    const LoadedGraph loaded = LoadText()(
        concat("stages:\n  one: {producer: synthetic, params: {count: 100}, split: ", split,
               ", part: all}\n  a: {consumer: show, from: one}\n"));
    EXPECT_EQ(loaded.diagnostics.errors(), 1u) << loaded.messages();
  }
}

TEST(ValidateSubsets, ALimitThatIsNoShareSaysWhy) {
  EXPECT_THAT(said("limit: 1.0", "limit: 3"), HasSubstr("write 100% if that is meant"));
  EXPECT_THAT(said("limit: 120%", "limit: 3"), HasSubstr("\"120%\" is more than all"));
}

TEST(ValidateSubsets, APartIsNamedOrTheOneRest) {
  EXPECT_THAT(said("split: {train: 0.9}, part: trian", "limit: 3"),
              HasSubstr("`split` has no part \"trian\""));
  EXPECT_THAT(said("split: {train: 0.9}, part: trian", "limit: 3"), HasSubstr("\"train\"?"));
  EXPECT_THAT(said("split: {a: 0.9, b: 0.1}, part: test", "limit: 3"),
              HasSubstr("`split` has no part \"test\", and its shares leave nothing"));
  EXPECT_THAT(said(kVal, "split: {train: 0.9, seed: 1}, part: test"),
              HasSubstr("\"test\" and \"val\" of stage \"one\" would be the same samples"));
}

TEST(ValidateSubsets, OneSourceIsDividedInOneWay) {
  for (const char* other :
       {"split: {train: 0.9, seed: 2}, part: val", "split: {train: 0.8, seed: 1}, part: val",
        "split: {train: 0.9, seed: 1}, part: val, skip: 1"})
    EXPECT_THAT(said(kTrain, other),
                HasSubstr("stage \"one\" divides the same samples in another way"))
        << other;
  EXPECT_EQ(said(kTrain, "split: {train: 0.8, seed: 1}, part: val", 99), "")
      << "another source may be divided in another way";
  EXPECT_EQ(said(kVal, "split: {train: 0.9, seed: 1}, part: test", 99), "")
      << "and what its shares leave may have another name";
}

TEST(ValidateSubsets, ACacheKeepsTheFirstOfWhatIsAboveIt) {
  const std::string head = "stages:\n  a: {producer: synthetic, params: {count: 100}}\n";
  const std::string tail = "  c: {consumer: show, from: kept}\n";
  LoadText load;
  const LoadedGraph fine = load(head + "  kept: {transform: cache, from: a, limit: 10%}\n" + tail);
  ASSERT_TRUE(fine.graph) << fine.messages();
  EXPECT_EQ(fine.graph->stages[1].take, Take::first);
  const auto with = [&](const std::string& keys) {
    return load(concat(head, "  kept: {transform: cache, from: a, ", keys, "}\n", tail)).messages();
  };
  EXPECT_EQ(with("limit: 10, take: first"), "");
  EXPECT_THAT(with("take: spread"), HasSubstr("a cache takes the first of what is above it"));
  for (const std::string& keys : {std::string("skip: 3"), kTrain}) {
    EXPECT_THAT(with(keys), HasSubstr("is for producers that read by index, this is a transform"));
    EXPECT_THAT(with(keys), HasSubstr("write it at the producer"));
  }
}

TEST(ValidateSubsets, AStreamIsToldWhatToDo) {
  LoadText load;
  const auto loaded = load(
      "stages:\n  a: {producer: application, tensors: {x: {dtype: f32, shape: []}}, split: "
      "{train: 0.9}, part: train}\n  c: {consumer: show, from: a}\n");
  EXPECT_THAT(loaded.messages(), HasSubstr("`split` is for producers that read by index"));
  EXPECT_THAT(loaded.messages(), HasSubstr("this is a stream"));
  EXPECT_THAT(loaded.messages(), HasSubstr("a stream is read as it comes: leave out what"));
}

}  // namespace
}  // namespace brigade
