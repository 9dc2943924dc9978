// Random graphs against the plain loop: as threads, and every tenth as processes, too. A graph that
// fails is printed with its seed; BRIGADE_GRAPHS=FIRST:COUNT in the environment runs others.

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/conformance/line_run.h"
#include "tests/conformance/random_yaml.h"

namespace brigade::conformance {
namespace {

struct Seeds {
  std::uint64_t first = 20'000;
  std::uint64_t count = 300;
};

Seeds seeds() {
  const char* const given = std::getenv("BRIGADE_GRAPHS");
  Seeds seeds;
  if (given == nullptr) return seeds;
  char* end = nullptr;
  seeds.first = std::strtoull(given, &end, 10);
  seeds.count = *end == ':' ? std::strtoull(end + 1, nullptr, 10) : 1;
  return seeds;
}

constexpr std::uint64_t kParts = 3;  // that ctest can run beside each other

class RandomGraphs : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomGraphs, GiveWhatThePlainLoopGives) {
  const auto [first, count] = seeds();
  for (std::uint64_t i = GetParam(); i < count; i += kParts) {
    const std::string yaml = RandomYaml(first + i).text();
    ASSERT_EQ(differs_from_plain_loop(yaml, true), "") << "seed " << first + i << ", as threads\n"
                                                       << yaml;
    if (i % 10 != 0) continue;
    ASSERT_EQ(differs_from_plain_loop(yaml, false), "")
        << "seed " << first + i << ", as processes\n"
        << yaml;
  }
}

INSTANTIATE_TEST_SUITE_P(Lines, RandomGraphs, testing::Range<std::uint64_t>(0, kParts));

/// Words that must come up, so that the generator cannot quietly lose a form.
TEST(RandomYaml, WritesEveryForm) {
  std::string all;
  for (std::uint64_t i = 0; i < Seeds{}.count; ++i) all += RandomYaml(Seeds{}.first + i).text();
  for (const char* word : {"join: zip",       "join: merge",  "join: epochs",
                           "assign: fixed",   "drop_last",    "fail_at",
                           "vary: true",      "limit:",       "keep:",
                           "drop:",           "rows:",        "buffers:",
                           "replicas: auto",  "toss",         "sift",
                           "split",           "transform: [", ".digest",
                           "consumer: count", "repeat",       "pieces",
                           "repack"})
    EXPECT_NE(all.find(word), all.npos) << word;
}

}  // namespace
}  // namespace brigade::conformance
