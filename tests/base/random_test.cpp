#include <brigade/random.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace brigade {
namespace {

// Known answers of the Random123 library 1.14 (kat_vectors, philox4x32 with 10 rounds).
TEST(Philox, MatchesThePublishedVectors) {
  EXPECT_EQ(Philox::block({0, 0, 0, 0}, {0, 0}),
            (Philox::Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(
      Philox::block({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
      (Philox::Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      Philox::block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (Philox::Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// Worked out by a second program (integers of any size); results of users depend on it.
TEST(Philox, TheSequenceOfAStreamNeverChanges) {
  EXPECT_EQ(stream_id(""), 0xf52a15e9a9b5e89bu);
  EXPECT_EQ(stream_id("augment"), 0xa68b90fd7d850b6cu);
  Philox random(7, stream_id("augment"), 1, 59999);
  EXPECT_EQ(random.next(), 0x24f3b246u);
  EXPECT_EQ(random.next64(), 0x1198daefd6e8e6deu);
  EXPECT_EQ(random.next(), 0x4b6e29e2u);
  EXPECT_EQ(random.next(), 0x89335f9au);  // the second block
}

std::vector<std::uint32_t> draw(Philox random, int count) {
  std::vector<std::uint32_t> words;
  for (int i = 0; i < count; ++i) words.push_back(random.next());
  return words;
}

TEST(Philox, EveryPartOfTheKeyChangesTheWords) {
  const std::uint64_t high_bit = std::uint64_t{1} << 63;
  const std::vector<Philox> streams = {Philox(0, 0, 0, 0),        Philox(1, 0, 0, 0),
                                       Philox(high_bit, 0, 0, 0), Philox(0, 1, 0, 0),
                                       Philox(0, high_bit, 0, 0), Philox(0, 0, 1, 0),
                                       Philox(0, 0, 0, 1),        Philox(0, 0, 0, high_bit)};
  std::set<std::uint32_t> words;
  for (const Philox& stream : streams)
    for (std::uint32_t word : draw(stream, 12)) words.insert(word);
  EXPECT_EQ(words.size(), streams.size() * 12);
}

TEST(Philox, UniformStaysInRangeAndFillsIt) {
  Philox random(1, stream_id("uniform"), 0, 0);
  double sum = 0;
  double least = 1;
  double most = 0;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const double value = random.uniform();
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    sum += value;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.005);  // more than five standard errors
  EXPECT_LT(least, 0.001);
  EXPECT_GT(most, 0.999);
}

TEST(Philox, BelowIsEvenAlsoWhereTheRangeDoesNotDivide) {
  Philox random(1, stream_id("below"), 0, 0);
  std::array<int, 7> hits{};
  constexpr int kDraws = 70'000;
  for (int i = 0; i < kDraws; ++i) ++hits[random.below(7)];
  for (int count : hits) EXPECT_NEAR(count, kDraws / 7, 500);  // five standard deviations
}

// With n = 3 * 2^30 (2^62), a plain remainder would put half of all draws below n / 3.
TEST(Philox, BelowHasNoBiasForLargeRanges) {
  for (int bits : {30, 62}) {
    const std::uint64_t third = std::uint64_t{1} << bits;
    Philox random(2, stream_id("large"), 0, static_cast<std::uint64_t>(bits));
    int first_third = 0;
    constexpr int kDraws = 30'000;
    for (int i = 0; i < kDraws; ++i) {
      const std::uint64_t value = random.below(3 * third);
      ASSERT_LT(value, 3 * third);
      if (value < third) ++first_third;
    }
    EXPECT_NEAR(first_third, kDraws / 3, 500) << bits;
  }
}

TEST(Philox, BelowOneIsZeroAndBelowAllIsAWord) {
  Philox random(1, 1, 1, 1);
  EXPECT_EQ(random.below(1), 0u);
  Philox a(5, 5, 5, 5);
  Philox b(5, 5, 5, 5);
  EXPECT_EQ(a.below(std::uint64_t{1} << 32), b.next());
}

TEST(PhiloxDeathTest, BelowNothingIsAnInternalError) {
  EXPECT_DEATH(Philox(1, 1, 1, 1).below(0), "n > 0");
}

TEST(Philox, ChanceIsNeverForZeroAlwaysForOneAndHalfForHalf) {
  Philox random(1, stream_id("chance"), 0, 0);
  int heads = 0;
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_FALSE(random.chance(0));
    ASSERT_TRUE(random.chance(1));
    heads += random.chance(0.5) ? 1 : 0;
  }
  EXPECT_NEAR(heads, 5'000, 250);
}

TEST(Philox, NormalHasMeanZeroAndVarianceOne) {
  Philox random(1, stream_id("normal"), 0, 0);
  double sum = 0;
  double squares = 0;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const double value = random.normal();
    ASSERT_TRUE(std::isfinite(value));
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.016);
  EXPECT_NEAR(squares / kDraws, 1, 0.025);
}

TEST(Philox, WorksAtCompileTime) {
  constexpr std::uint32_t word = [] { return Philox(1, 2, 3, 4).next(); }();
  EXPECT_EQ(word, Philox(1, 2, 3, 4).next());
}

}  // namespace
}  // namespace brigade
