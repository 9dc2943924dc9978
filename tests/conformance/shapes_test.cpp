// Every shape of line, for 1, 2 and 4 replicas and batches of 1, 7 and 64, as processes and as
// threads: every consumer sees what the plain loop says, and the audit agree with it.

#include "tests/conformance/yaml/shapes.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/conformance/line_run.h"
#include "tests/conformance/yaml/random_yaml.h"

namespace brigade::conformance {
namespace {

class EveryShape : public testing::TestWithParam<ShapeCase> {};

TEST_P(EveryShape, GivesWhatThePlainLoopGives) {
  for (const int replicas : {1, 2, 4}) {
    for (const int batch : {1, 7, 64}) {
      if (kThreadsOnly && !GetParam().in_process && (replicas != 2 || batch != 7)) continue;
      const std::string yaml = shape_yaml(GetParam().shape, replicas, batch);
      const Rings rings = batch == 7 ? Rings::smallest : Rings::as_planned;
      EXPECT_EQ(differs_from_plain_loop(yaml, GetParam().in_process, rings), "")
          << replicas << " replicas, batch " << batch << yaml;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Lines, EveryShape,
                         testing::ValuesIn(as_processes_and_threads(all_shapes())), kNameOfCase);

TEST_P(EveryShape, GivesConsumersThatKeepBatchesWhatThePlainLoopGives) {
  if (!has(GetParam().shape, "record")) GTEST_SKIP() << "nobody writes down what there is";
  for (const int replicas : {1, 4}) {
    for (const int batch : {7, 64}) {
      if (kThreadsOnly && !GetParam().in_process && (replicas != 4 || batch != 7)) continue;
      const std::string yaml = keeping(shape_yaml(GetParam().shape, replicas, batch));
      const Rings rings = batch == 7 ? Rings::smallest : Rings::as_planned;
      EXPECT_EQ(differs_from_plain_loop(yaml, GetParam().in_process, rings), "")
          << replicas << " replicas, batch " << batch << yaml;
    }
  }
}

/// The control: what is looked at there does change where nobody keeps it.
TEST(KeptBatches, ThatAreLetGoAtOnceAreSeenToChange) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "it is a data race";
#endif
  LineRun line;
  ASSERT_EQ(line.prepare(R"(
stages:
  numbers: {producer: synthetic, params: {count: 5000, shape: [8]}, batch: 16, buffers: 2}
  end: {consumer: keep, from: numbers, hold: 1,
        params: {folder: "${RECORDS}", keep_us: 20000, let_go: true}}
)"),
            "");
  line.run(true);
  EXPECT_NE(line.outcome().failure.find("a batch has changed that was kept"), std::string::npos)
      << line.outcome().failure;
}

TEST_P(EveryShape, GivesAProgramWhatThePlainLoopGives) {
  for (const int batch : {1, 7, 64}) {
    if (kThreadsOnly && !GetParam().in_process && batch != 7) continue;
    const std::string yaml = shape_yaml(GetParam().shape, 2, batch);
    LineRun line;
    ASSERT_EQ(line.prepare(yaml, 5), "") << yaml;
    const PlainLoop plain(line.graph(), line.plan());
    line.run_as_program(GetParam().in_process, static_cast<std::uint64_t>(batch));
    EXPECT_EQ(line.difference_to(plain), "") << "batch " << batch << yaml;
  }
}

/// What a stream gives does not depend on when its batches are closed.
TEST(StreamWithMaxWait, GivesTheSameSamplesInTheSameOrder) {
  static const ShapeOfLine kPausing = {"", R"(
  drops: {producer: drip, params: {counts: [50, 20], pause_every: 7, pause_us: 10000}}
  work: {transform: digest, from: drops, replicas: R}
  full: {transform: repack, from: work}
  end: {consumer: count, from: {stage: work, batch: B, max_wait: 500us}}
  other: {consumer: count, from: {stage: full, batch: B}}
)"};
  std::uint64_t checksum = 0;
  for (const bool in_process : {false, true}) {
    for (const int replicas : {1, 4}) {
      for (const int batch : {1, 7, 64}) {
        LineRun line;
        ASSERT_EQ(line.prepare(shape_yaml(kPausing, replicas, batch)), "");
        line.run(in_process);
        EXPECT_EQ(line.outcome().failure, "");
        for (const char* consumer : {"end", "other"}) {
          EXPECT_EQ(line.reported(consumer, "samples"), 70u);
          const std::uint64_t found = line.reported(consumer, "checksum");
          if (checksum == 0) checksum = found;
          EXPECT_EQ(found, checksum)
              << consumer << ", " << replicas << " replicas, batch " << batch;
        }
        if (batch == 64) {
          EXPECT_GT(line.reported("end", "batches"), 4u);  // some were closed early
        }
      }
    }
  }
}

TEST(CountedLine, TheChecksumOfAllSamplesIsTheSameForAnyReplicasAndBatch) {
  std::uint64_t checksum = 0;
  for (const int replicas : {1, 4}) {
    for (const int batch : {1, 64}) {
      LineRun line;
      const ShapeOfLine& counted = shapes().back();
      ASSERT_EQ(line.prepare(shape_yaml(counted, replicas, batch)), "");
      line.run(true);
      const std::uint64_t found = line.reported("end", "checksum");
      EXPECT_NE(found, 0u);
      if (checksum == 0) checksum = found;
      EXPECT_EQ(found, checksum);
    }
  }
}

// Random graphs against the plain loop: as threads, and every tenth as processes, too. A graph that
// fails is printed with its seed; BRIGADE_GRAPHS=FIRST:COUNT in the environment runs others.

struct Seeds {
  std::uint64_t first = 20'000;
  std::uint64_t count = kThreadsOnly ? 100 : 300;
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
  for (const char* word : {"join: zip",    "join: merge",
                           "join: epochs", "assign: fixed",
                           "drop_last",    "fail_at",
                           "vary: true",   "limit:",
                           "keep:",        "take: first",
                           "skip:",        "part: others",
                           "drop:",        "chunk:",
                           "buffers:",     "replicas: auto",
                           "toss",         "sift",
                           "split",        "transform: [",
                           ".digest",      "consumer: count",
                           "repeat",       "pieces",
                           "repack",       "weights:",
                           "samples:",     "mix:"})
    EXPECT_NE(all.find(word), all.npos) << word;
}

}  // namespace
}  // namespace brigade::conformance
