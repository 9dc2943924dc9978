#include "pipeline/stats/source_book.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

const LeftOut kRanks{LeftOutWhy::ranks, 30, "for the other ranks"};
const LeftOut kKeys{LeftOutWhy::no_match, 1234, "keys without an image"};

TEST(SourceBook, WhatWasFoundIsGivenOrLeftOut) {
  const SourceBook book{"train", 10, {kRanks, kKeys}};
  EXPECT_EQ(found_by(book), 1274u);
  EXPECT_EQ(source_text(book),
            "source train: found 1,274, gives 10, left out 1,264: 30 for the other ranks, 1,234 "
            "keys without an image");
  EXPECT_EQ(source_text({"train", 10, {}}), "source train: found 10, gives 10, left out 0");
}

TEST(SourceBook, AStreamHasNoNumbers) {
  EXPECT_EQ(found_by({"lines", std::nullopt, {}}), std::nullopt);
  EXPECT_EQ(source_text({"lines", std::nullopt, {}}), "source lines: a stream");
}

TEST(SourceBook, OnlyWhatNobodyAskedForIsSurprising) {
  EXPECT_FALSE(is_surprising(SourceBook{"train", 10, {kRanks}}));
  EXPECT_TRUE(is_surprising(SourceBook{"train", 10, {kRanks, kKeys}}));
}

}  // namespace
}  // namespace brigade
