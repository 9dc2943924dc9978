#include "pipeline/records/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

namespace brigade {
namespace {

std::vector<std::uint64_t> order(std::uint64_t size, std::uint64_t seed, std::uint32_t epoch) {
  const Permutation permutation(size, seed, epoch);
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < size; ++i) all.push_back(permutation(i));
  return all;
}

bool is_bijection(const std::vector<std::uint64_t>& values) {
  std::vector<bool> seen(values.size());
  for (const std::uint64_t value : values) {
    if (value >= values.size() || seen[value]) return false;
    seen[value] = true;
  }
  return true;
}

/// How many standard deviations a chi-square statistic lies above its mean.
double deviation(double chi_square, double freedom) {
  return (chi_square - freedom) / std::sqrt(2 * freedom);
}

TEST(Permutation, IsABijectionOfEverySize) {
  for (std::uint64_t size = 1; size <= 600; ++size)
    ASSERT_TRUE(is_bijection(order(size, size, 3))) << size;
  for (const std::uint64_t size : {60'000u, 65'536u, 65'537u, 131'072u})
    ASSERT_TRUE(is_bijection(order(size, 1, 0))) << size;
}

TEST(Permutation, StaysInsideHugeSizes) {
  for (const std::uint64_t size : {(std::uint64_t{1} << 40) + 1, ~std::uint64_t{0}}) {
    const Permutation permutation(size, 5, 6);
    std::map<std::uint64_t, int> seen;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      EXPECT_LT(permutation(i), size);
      EXPECT_EQ(++seen[permutation(i)], 1);
    }
  }
}

TEST(Permutation, IsTheSameOnEveryMachine) {
  EXPECT_EQ(order(10, 7, 0), (std::vector<std::uint64_t>{5, 8, 9, 2, 1, 3, 4, 6, 7, 0}));
  EXPECT_EQ(Permutation(60'000, 7, 2)(12'345), 50'794u);
}

TEST(Permutation, DiffersBySeedAndEpoch) {
  EXPECT_NE(order(100, 7, 0), order(100, 7, 1));
  EXPECT_NE(order(100, 7, 0), order(100, 8, 0));
}

TEST(Permutation, AllOrdersOfFiveAreEquallyLikely) {
  constexpr int kEach = 100;
  std::map<std::vector<std::uint64_t>, int> counts;
  for (int trial = 0; trial < 120 * kEach; ++trial)
    ++counts[order(5, static_cast<std::uint64_t>(trial / 50),
                   static_cast<std::uint32_t>(trial % 50))];
  ASSERT_EQ(counts.size(), 120u);
  double chi_square = 0;
  for (const auto& [permutation, count] : counts)
    chi_square += (count - kEach) * (count - kEach) / static_cast<double>(kEach);
  EXPECT_LT(std::abs(deviation(chi_square, 119)), 4);
}

TEST(Permutation, EveryPlaceGetsEverySampleAndEveryDistance) {
  constexpr int kSize = 100;
  constexpr int kTrials = 5000;
  std::vector<int> places(kSize * kSize);
  std::vector<int> distances(kSize);
  for (std::uint32_t epoch = 0; epoch < kTrials; ++epoch) {
    const auto values = order(kSize, 11, epoch);
    for (std::size_t i = 0; i < kSize; ++i) {
      ++places[i * kSize + values[i]];
      if (i > 0) ++distances[(values[i] + kSize - values[i - 1]) % kSize];
    }
  }
  double places_chi = 0;
  constexpr double kPlaceMean = static_cast<double>(kTrials) / kSize;
  for (const int count : places)
    places_chi += (count - kPlaceMean) * (count - kPlaceMean) / kPlaceMean;
  EXPECT_LT(std::abs(deviation(places_chi, 99.0 * 99.0)), 4);

  double distances_chi = 0;
  for (int distance = 1; distance < kSize; ++distance) {
    const double off = distances[static_cast<std::size_t>(distance)] - double{kTrials};
    distances_chi += off * off / kTrials;
  }
  EXPECT_EQ(distances[0], 0);
  EXPECT_LT(std::abs(deviation(distances_chi, 98)), 4);
}

TEST(Sampler, NumbersBecomePlaces) {
  const Sampler sampler(150, 192, false, 0);
  EXPECT_EQ(sampler.place(0).epoch, 0u);
  EXPECT_EQ(sampler.place(191).index, 191u);  // padding
  EXPECT_EQ(sampler.place(192).epoch, 1u);
  EXPECT_EQ(sampler.place(192 * 3 + 5).epoch, 3u);
  EXPECT_EQ(sampler.place(192 * 3 + 5).index, 5u);
}

TEST(Sampler, WithoutShufflePlacesAreIds) {
  Sampler sampler(150, 192, false, 7);
  sampler.enter(1);
  for (std::uint64_t i = 0; i < 150; ++i) EXPECT_EQ(sampler.id(i), i);
}

TEST(Sampler, ShufflesEachEpochAndCanGoBack) {
  Sampler sampler(150, 192, true, 7);
  for (const std::uint32_t epoch : {0u, 1u, 5u, 0u}) {
    sampler.enter(epoch);
    const Permutation expected(150, 7, epoch);
    for (std::uint64_t i = 0; i < 150; ++i) ASSERT_EQ(sampler.id(i), expected(i));
  }
}

TEST(Sampler, LimitComesBeforeShuffle) {
  Sampler sampler(10, 64, true, 7);  // the first 10 of a larger index
  sampler.enter(0);
  std::vector<std::uint64_t> ids;
  for (std::uint64_t i = 0; i < 10; ++i) ids.push_back(sampler.id(i));
  EXPECT_TRUE(is_bijection(ids));
}

TEST(Shards, TogetherAreTheWholeEpoch) {
  for (const bool shuffle : {false, true}) {
    for (const std::uint64_t epoch : {0u, 3u}) {
      std::vector<std::uint64_t> ids;
      for (std::uint64_t rank = 0; rank < 3; ++rank) {
        Sampler sampler(50, 64, shuffle, 7, {rank, 3, 150});
        sampler.enter(static_cast<std::uint32_t>(epoch));
        for (std::uint64_t i = 0; i < 50; ++i) ids.push_back(sampler.id(i));
      }
      EXPECT_TRUE(is_bijection(ids));
    }
  }
}

TEST(Shards, TakeTurnsInTheOrderOfTheWhole) {
  Sampler whole(10, 16, true, 7);
  Sampler second(4, 16, true, 7, {1, 3, 10});  // 10 samples among 3 ranks: 4 each
  whole.enter(2);
  second.enter(2);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(second.id(i), whole.id(3 * i + 1));
  EXPECT_EQ(second.id(3), whole.id(0));  // padded from the front
}

TEST(Shards, AreOfOneSize) {
  EXPECT_EQ(shard_samples(150, {1, 3, Uneven::error}).value(), 50u);
  EXPECT_EQ(shard_samples(10, {0, 3, Uneven::pad}).value(), 4u);
  EXPECT_EQ(shard_samples(10, {2, 3, Uneven::drop}).value(), 3u);
  EXPECT_EQ(shard_samples(2, {2, 3, Uneven::pad}).value(), 1u);
  EXPECT_EQ(shard_samples(10, {0, 3, Uneven::error}).error().message,
            "its 10 samples cannot be divided among 3 ranks; write `shard: {uneven: pad}` to read "
            "some twice, or `uneven: drop` to drop some");
  EXPECT_EQ(shard_samples(2, {0, 3, Uneven::drop}).error().message,
            "its 2 samples cannot be divided among 3 ranks: `uneven: drop` would leave none");
}

TEST(EpochPeriod, RoundsUpToTheMultiple) {
  EXPECT_EQ(epoch_period(150, 64), 192u);
  EXPECT_EQ(epoch_period(192, 64), 192u);
  EXPECT_EQ(epoch_period(1, 64), 64u);
}

}  // namespace
}  // namespace brigade
