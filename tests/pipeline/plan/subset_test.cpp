#include "pipeline/plan/subset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "pipeline/records/sampler.h"

namespace brigade {
namespace {

using Indices = std::vector<std::uint64_t>;

Indices indices_of(const Subset& subset) {
  Indices out;
  for (std::uint64_t i = 0; i < subset.size(); ++i) out.push_back(subset(i));
  return out;
}

Indices from_to(std::uint64_t begin, std::uint64_t end) {
  Indices out(end - begin);
  std::iota(out.begin(), out.end(), begin);
  return out;
}

StageKeys part_of(const Split& split, const std::string& part, std::uint64_t skip = 0) {
  StageKeys keys;
  keys.split = split;
  keys.part = part;
  keys.skip = skip;
  return keys;
}

constexpr std::uint64_t kPercent = kWholeShare / 100;

TEST(Subset, MoreThanAllIsAll) {  // of a plan that another program wrote
  const Subset part(part_of({{{"a", 3 * kPercent}, {"b", ~std::uint64_t{0}}}, 0}, "b"), 0, 100);
  EXPECT_EQ(part.size(), 97u);
  SampleLimit limit;
  limit.share = ~std::uint64_t{0};
  EXPECT_EQ(limited(limit, 100), 100u);
}

const std::vector<std::vector<SplitShare>> kSplits = {
    {{"a", 90 * kPercent}},
    {{"a", 10 * kPercent}},
    {{"a", 50 * kPercent}},
    {{"a", 100 * kPercent}},
    {{"a", 1}},
    {{"a", 333'333'333}, {"b", 333'333'333}, {"c", 333'333'334}},
    {{"a", 80 * kPercent}, {"b", 10 * kPercent}, {"c", 5 * kPercent}},
    {{"a", 1 * kPercent}, {"b", 98 * kPercent}},
};

TEST(Subset, PartsAreDisjointAndComplete) {
  for (const std::uint64_t found : {1, 2, 3, 7, 10, 64, 100, 101, 999, 4096}) {
    for (const auto& shares : kSplits) {
      for (const std::uint64_t seed : {0, 1, 12345}) {
        for (const std::uint64_t skip : {0, 1, 5}) {
          Indices all;
          std::uint64_t others = 0;
          std::vector<SplitShare> parts = shares;
          parts.push_back({"rest", 0});
          for (const SplitShare& part : parts) {
            const Subset subset(part_of({shares, seed}, part.name, skip), 7, found);
            const Indices mine = indices_of(subset);
            EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end())) << "in the order of the source";
            EXPECT_EQ(mine.size() + subset.in_other_parts() + subset.skipped(), found);
            others += subset.in_other_parts();
            all.insert(all.end(), mine.begin(), mine.end());
          }
          std::sort(all.begin(), all.end());
          ASSERT_EQ(all, from_to(std::min(skip, found), found))
              << found << " samples, " << shares.size() << " shares, seed " << seed;
          EXPECT_EQ(others, all.size() * (parts.size() - 1));
        }
      }
    }
  }
}

// Of every part the ranks read all of it, each sample once, whatever the order of the epoch.
TEST(Subset, RanksDivideAPart) {
  const Split split{{{"train", 90 * kPercent}}, 1};
  for (const char* part : {"train", "val"}) {
    const Subset subset(part_of(split, part), 7, 600);
    const Indices expected = indices_of(subset);
    for (const std::uint64_t world : {1, 2, 3, 4}) {
      for (const bool shuffle : {false, true}) {
        for (const std::uint64_t epoch : {0, 1, 2}) {
          Indices all;
          for (std::uint64_t rank = 0; rank < world; ++rank) {
            const std::uint64_t samples =
                shard_samples(subset.size(), {rank, world, Uneven::error}).value();
            Sampler sampler(samples, 1024, shuffle, 7, {rank, world, subset.size()}, subset);
            sampler.enter(epoch);
            for (std::uint64_t i = 0; i < samples; ++i) all.push_back(sampler.id(i));
          }
          EXPECT_EQ(std::is_sorted(all.begin(), all.end()), !shuffle && world == 1);
          std::sort(all.begin(), all.end());
          ASSERT_EQ(all, expected) << part << ", " << world << " ranks, epoch " << epoch;
        }
      }
    }
  }
}

TEST(Subset, WhereThePartsAreIsDecidedBySharesAndTheSplitsSeed) {
  const Split split{{{"train", 90 * kPercent}}, 1};
  const Indices val = indices_of(Subset(part_of(split, "val"), 7, 1000));
  EXPECT_EQ(val.size(), 100u);
  EXPECT_EQ(val, indices_of(Subset(part_of(split, "val"), 8, 1000))) << "not the stage's seed";
  Split other = split;
  other.seed = 2;
  EXPECT_NE(val, indices_of(Subset(part_of(other, "val"), 7, 1000)));
  const Split both{{{"train", 90 * kPercent}, {"val", 10 * kPercent}}, 1};
  EXPECT_EQ(val, indices_of(Subset(part_of(both, "val"), 7, 1000)));
}

// A folder that is sorted by class: 80 classes of 50 pictures.
TEST(Subset, EveryClassOfASortedSourceHasItsShare) {
  const Split split{{{"train", 90 * kPercent}}, 1};
  StageKeys limit;
  limit.limit = 400;
  for (const StageKeys& keys : {part_of(split, "val"), limit}) {
    std::vector<int> of_class(80);
    const Subset subset(keys, 3, 4000);
    ASSERT_EQ(subset.size(), 400u);
    for (const std::uint64_t index : indices_of(subset)) ++of_class[index / 50];
    EXPECT_EQ(*std::min_element(of_class.begin(), of_class.end()), 5);
    EXPECT_EQ(*std::max_element(of_class.begin(), of_class.end()), 5);
  }
  limit.take = Take::first;  // the control: what the first ones are
  EXPECT_EQ(indices_of(Subset(limit, 3, 4000)), from_to(0, 400));
}

// Of each ten neighbours one: which one is as good as random.
TEST(Subset, WithinARunEachIsAsLikely) {
  StageKeys keys;
  keys.limit = 100'000;
  const Subset subset(keys, 3, 1'000'000);
  std::vector<double> counts(10);
  for (const std::uint64_t index : indices_of(subset)) counts[index % 10] += 1;
  for (const double count : counts) EXPECT_NEAR(count, 10'000, 5 * 95) << "5 standard deviations";
}

TEST(Subset, ALimitIsANumberOrAShareOfThePart) {
  StageKeys keys = part_of({{{"train", 90 * kPercent}}, 1}, "train", 100);
  keys.limit.share = 10 * kPercent;
  const Subset subset(keys, 7, 1100);
  EXPECT_EQ(subset.size(), 90u);
  EXPECT_EQ(subset.skipped(), 100u);
  EXPECT_EQ(subset.in_other_parts(), 100u);
  EXPECT_EQ(subset.behind_limit(), 810u);
  EXPECT_FALSE(subset.is_front());
  EXPECT_NE(indices_of(subset), indices_of(Subset(keys, 8, 1100))) << "by the stage's seed";

  EXPECT_EQ(limited({}, 10), 10u);
  EXPECT_EQ(limited(3, 10), 3u);
  EXPECT_EQ(limited(30, 10), 10u);
  SampleLimit little;
  little.share = 1;
  EXPECT_EQ(limited(little, 10), 1u) << "at least one";
  EXPECT_EQ(limited(little, 0), 0u);
}

TEST(Subset, WithoutKeysItIsTheSource) {
  const Subset all(StageKeys(), 7, 10);
  EXPECT_TRUE(all.is_front());
  EXPECT_EQ(indices_of(all), from_to(0, 10));
  StageKeys beyond;
  beyond.skip = 20;
  EXPECT_EQ(Subset(beyond, 7, 10).size(), 0u);
}

TEST(Subset, AddressesTheLargestSource) {
  const std::uint64_t found = (std::uint64_t{1} << 48) - 1;
  const Split split{{{"train", 90 * kPercent}}, 1};
  const Subset train(part_of(split, "train"), 7, found);
  const Subset val(part_of(split, "val"), 7, found);
  EXPECT_EQ(train.size() + val.size(), found);
  EXPECT_LT(train(train.size() - 1), found);
  EXPECT_LT(val(val.size() - 1), found);
  EXPECT_GE(std::max(train(train.size() - 1), val(val.size() - 1)), found - 1);
  EXPECT_LT(train(train.size() / 2), train(train.size() / 2 + 1));
}

}  // namespace
}  // namespace brigade
