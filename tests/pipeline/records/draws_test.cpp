#include "pipeline/records/draws.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "pipeline/records/sampler.h"

namespace brigade {
namespace {

using Weights = std::vector<double>;
using Counts = std::map<std::uint64_t, std::uint64_t>;

Subset all_of(std::uint64_t size) { return Subset(StageKeys(), 0, size); }

Draws draws_of(const Weights& weights, std::uint64_t size, std::uint64_t seed = 7) {
  return Draws(weights, size, seed, weights.size(), all_of(weights.size()));
}

std::vector<std::uint64_t> ids_of(const Draws& draws, std::uint32_t epoch) {
  std::vector<std::uint64_t> ids;
  for (std::uint64_t draw = 0; draw < draws.size(); ++draw)
    ids.push_back(draws.id(draw, draws.shift(epoch)));
  return ids;
}

Counts counts_of(const Draws& draws, std::uint32_t epoch) {
  Counts counts;
  for (const std::uint64_t id : ids_of(draws, epoch)) ++counts[draws.index(id)];
  return counts;
}

const std::vector<Weights> kWeights = {{1},
                                       {1, 1, 1},
                                       {0, 5, 0},
                                       {1, 2, 3, 4},
                                       {0.25, 1e-9, 1e9, 3},
                                       Weights(97, 0.1),
                                       {1e30, 1e30, 1},
                                       {1e-300, 2e-300}};

TEST(Draws, GiveEachSampleItsShareOfAnEpochRoundedDownOrUp) {
  for (const Weights& weights : kWeights) {
    double sum = 0;
    for (const double weight : weights) sum += weight;
    for (const std::uint64_t size : {1u, 2u, 10u, 97u, 1000u}) {
      for (std::uint32_t epoch = 0; epoch < 20; ++epoch) {
        Counts counts = counts_of(draws_of(weights, size), epoch);
        for (std::uint64_t i = 0; i < weights.size(); ++i) {
          const double share = static_cast<double>(size) * weights[i] / sum;
          EXPECT_GE(counts[i] + 1e-6, std::floor(share)) << i;
          EXPECT_LE(counts[i], std::ceil(share + 1e-6)) << i;
        }
      }
    }
  }
}

TEST(Draws, OfEqualWeightsAreEachSampleOnce) {
  const Draws draws = draws_of(Weights(97, 0.1), 97);
  for (std::uint32_t epoch = 0; epoch < 5; ++epoch)
    EXPECT_EQ(counts_of(draws, epoch), counts_of(draws_of(Weights(97, 1), 97), 0));
}

/// Over many seeds each epoch is exact in expectation: of n seeds a sample comes n times its share,
/// give or take six standard deviations.
TEST(Draws, AreExactInExpectation) {
  const Weights weights = {1, 2, 3, 0.5, 10};
  constexpr std::uint64_t kSize = 3;
  constexpr int kSeeds = 20'000;
  for (const std::uint32_t epoch : {0u, 1u, 1000u}) {
    std::vector<double> came(weights.size());
    for (int seed = 0; seed < kSeeds; ++seed)
      for (const auto& [index, count] :
           counts_of(draws_of(weights, kSize, static_cast<std::uint64_t>(seed)), epoch))
        came[index] += static_cast<double>(count);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double share = kSize * weights[i] / 16.5;
      const double chance = share - std::floor(share);
      EXPECT_NEAR(came[i], kSeeds * share, 6 * std::sqrt(kSeeds * chance * (1 - chance)) + 1) << i;
    }
  }
}

/// And over many epochs of one seed much closer: the shift goes on by the golden ratio.
TEST(Draws, KeepTheirSharesOverEpochs) {
  const Weights weights = {1, 2, 3, 0.5, 10};
  const Draws draws = draws_of(weights, 3);
  constexpr std::uint32_t kEpochs = 1000;
  std::vector<double> came(weights.size());
  for (std::uint32_t epoch = 0; epoch < kEpochs; ++epoch)
    for (const auto& [index, count] : counts_of(draws, epoch))
      came[index] += static_cast<double>(count);
  for (std::size_t i = 0; i < weights.size(); ++i)
    EXPECT_NEAR(came[i], kEpochs * 3 * weights[i] / 16.5, 5) << i;
}

TEST(Draws, NumberTheTimesThatASampleComes) {
  const Draws draws = draws_of({1, 0, 5, 2}, 100);
  for (std::uint32_t epoch = 0; epoch < 20; ++epoch) {
    Counts times;
    for (const std::uint64_t id : ids_of(draws, epoch)) {
      const std::uint64_t index = draws.index(id);
      EXPECT_EQ(id, index + 4 * times[index]++) << "in the order of the source";
    }
    EXPECT_FALSE(times.contains(1));
  }
}

TEST(Draws, OfAPartAreOfItsSamples) {
  StageKeys keys;
  keys.split = {{{"a", kWholeShare / 2}}, 3};
  keys.part = "a";
  const Subset part(keys, 0, 40);
  std::set<std::uint64_t> mine;
  for (std::uint64_t i = 0; i < part.size(); ++i) mine.insert(part(i));
  const Draws draws(Weights(part.size(), 1), 50, 1, 40, part);
  std::set<std::uint64_t> drawn;
  for (const std::uint64_t id : ids_of(draws, 0)) drawn.insert(draws.index(id));
  EXPECT_EQ(drawn, mine);
}

TEST(Draws, AreTheSameOnEveryMachine) {
  const Draws draws = draws_of({1, 2, 3, 4}, 10);
  EXPECT_EQ(ids_of(draws, 0), (std::vector<std::uint64_t>{0, 1, 5, 2, 6, 10, 3, 7, 11, 15}));
  EXPECT_EQ(draws.shift(0), 1440906486224773036u);
  EXPECT_NE(draws.hash(), draws_of({1, 2, 4, 3}, 10).hash());
  EXPECT_NE(draws.hash(), draws_of({1, 2, 3, 4}, 11).hash());
}

TEST(Draws, OfHugeEpochsStayInside) {
  const Draws draws = draws_of({3, 1, 2}, std::uint64_t{1} << 48);
  for (const std::uint64_t draw : {std::uint64_t{0}, std::uint64_t{1} << 47, draws.size() - 1}) {
    const std::uint64_t id = draws.id(draw, draws.shift(1'000'000));
    EXPECT_LT(id, draws.size() * 3);
    EXPECT_EQ(draws.index(id), draw < (std::uint64_t{1} << 47) ? 0u
                               : draw == draws.size() - 1      ? 2u
                                                               : 1u);
  }
}

/// Ranks share the draws of an epoch, shuffled or not.
TEST(DrawnSampler, SharesAnEpochAmongRanks) {
  const Draws draws = draws_of({1, 2, 3, 4}, 12);
  for (const bool shuffle : {false, true}) {
    std::multiset<std::uint64_t> together;
    for (std::uint64_t rank = 0; rank < 3; ++rank) {
      Sampler sampler(4, 4, shuffle, 7, ShardPart{rank, 3, draws.size()}, &draws);
      sampler.enter(2);
      for (std::uint64_t i = 0; i < 4; ++i) together.insert(sampler.id(i));
    }
    const auto all = ids_of(draws, 2);
    EXPECT_EQ(together, std::multiset<std::uint64_t>(all.begin(), all.end()));
  }
}

}  // namespace
}  // namespace brigade
