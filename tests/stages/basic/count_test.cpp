#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <utility>

#include <brigade/harness.h>
#include "stages/basic/basic_stages.h"
#include "tests/support/only_type.h"

namespace brigade {
namespace {

using namespace testing_support;

/// Six samples [2] u8 "image" and [] i64 "label"; sample i has id 10 + i.
struct Six {
  std::vector<std::uint8_t> images = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::vector<std::int64_t> labels = {0, 1, 2, 3, 4, 5};
  std::uint64_t first_id = 10;
  std::uint32_t epoch = 0;
  std::string name = "image";
  Shape shape = {2};
};

class CountTest : public testing::Test {
 protected:
  static std::unique_ptr<StageHarness> open_count(ParamTexts params = {}) {
    const Ports in{{"image", u8, {2}}, {"label", i64, {}}};
    return StageHarness::open(only_type<add_count>(), {std::move(params), in, {}}).value();
  }

  /// Feeds samples [from, to) as one batch, or one after another.
  static void feed(StageHarness& stage, const Six& six, std::size_t from, std::size_t to,
                   bool batched = true) {
    std::vector<std::uint8_t> pixels;
    std::vector<std::int64_t> labels;
    std::vector<SampleInfo> infos;
    for (std::size_t i = from; i < to; ++i) {
      pixels.insert(pixels.end(), {six.images[2 * i], six.images[2 * i + 1]});
      labels.push_back(six.labels[i]);
      infos.push_back({i, i, six.first_id + i, six.epoch});
      if (batched) continue;
      ASSERT_TRUE(stage.process({host_tensor(six.name, six.shape, std::exchange(pixels, {})),
                                 host_tensor("label", Shape{}, std::exchange(labels, {}))},
                                infos[i - from]));
    }
    const auto slots = static_cast<std::int64_t>(to - from);
    const Shape all = six.shape.rank() == 1 ? Shape{slots, 2} : Shape{slots, 2, 1};
    if (batched) {
      ASSERT_TRUE(stage.process_batch(
          {host_tensor(six.name, all, pixels), host_tensor("label", Shape{slots}, labels)}, infos));
    }
  }

  using Counts = std::map<std::string, std::uint64_t>;
  static Counts counts(const Six& six, std::size_t batch, bool batched = true) {
    const auto stage = open_count();
    for (std::size_t i = 0; i < 6; i += batch)
      feed(*stage, six, i, std::min<std::size_t>(i + batch, 6), batched);
    EXPECT_TRUE(stage->close());
    return stage->reports.counts;
  }
};

TEST_F(CountTest, CountsSamplesAndCallsWithChecksumsOfAnyBatchSize) {
  Counts whole = counts(Six{}, 6);
  EXPECT_EQ(whole["samples"], 6u);
  EXPECT_EQ(whole["batches"], 1u);
  for (Counts other : {counts(Six{}, 1), counts(Six{}, 4), counts(Six{}, 1, false)}) {
    EXPECT_EQ(other["samples"], 6u);
    EXPECT_GT(other["batches"], 1u);
    EXPECT_EQ(other["checksum"], whole["checksum"]);
    EXPECT_EQ(other["set_checksum"], whole["set_checksum"]);
  }
}

TEST_F(CountTest, EverythingAboutASampleChangesBothChecksums) {
  const auto plain = counts(Six{}, 3);
  std::vector<Six> changed(6);
  changed[0].images[11] = 0;
  changed[1].labels[2] = 9;
  changed[2].first_id = 11;
  changed[3].epoch = 1;
  changed[4].name = "img";
  changed[5].shape = {2, 1};
  for (std::size_t i = 0; i < changed.size(); ++i) {
    const auto other = counts(changed[i], 3);
    EXPECT_NE(other.at("checksum"), plain.at("checksum")) << i;
    EXPECT_NE(other.at("set_checksum"), plain.at("set_checksum")) << i;
  }
}

TEST_F(CountTest, OnlyTheChecksumSeesTheOrderAndBothALostSample) {
  const auto backwards = open_count(), less = open_count();
  feed(*backwards, Six{}, 3, 6);
  feed(*backwards, Six{}, 0, 3);
  feed(*less, Six{}, 0, 5);
  for (StageHarness* const stage : {backwards.get(), less.get()}) ASSERT_TRUE(stage->epoch_end(0));
  Counts whole = counts(Six{}, 3);
  EXPECT_NE(backwards->reports.counts["checksum"], whole["checksum"]);
  EXPECT_EQ(backwards->reports.counts["set_checksum"], whole["set_checksum"]);
  EXPECT_NE(less->reports.counts["checksum"], whole["checksum"]);
  EXPECT_NE(less->reports.counts["set_checksum"], whole["set_checksum"]);
}

TEST_F(CountTest, SleepsInEveryCallAndChecksumsCanBeSwitchedOff) {
  const auto stage = open_count({{"sleep_ms", "5"}, {"checksum", "false"}});
  const auto start = std::chrono::steady_clock::now();
  feed(*stage, Six{}, 0, 3);
  feed(*stage, Six{}, 3, 6);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(10));
  ASSERT_TRUE(stage->close());
  EXPECT_EQ(stage->reports.counts.count("checksum"), 0u);
  EXPECT_EQ(stage->reports.counts["samples"], 6u);
}

TEST_F(CountTest, OfARaggedTensorOnlyTheValidBytesCount) {
  const Ports in{{"box", u8, {up_to(4)}}};
  const auto sum = [&](auto feed_slots) {
    const auto stage = StageHarness::open(only_type<add_count>(), {{}, in, {}}).value();
    feed_slots(*stage);
    EXPECT_TRUE(stage->close());
    return stage->reports.counts["checksum"];
  };
  const auto batch_with = [&](std::uint8_t padding) {
    return sum([p = padding](StageHarness& stage) {
      ASSERT_TRUE(
          stage.process_batch({host_tensor<std::uint8_t>("box", {2, 4}, {1, 2, 3, p, 4, p, p, p}),
                               host_tensor<std::int64_t>("box.shape", {2, 1}, {3, 1})},
                              {{0, 0, 0, 0}, {1, 1, 1, 0}}));
    });
  };
  const auto samples = sum([](StageHarness& stage) {
    ASSERT_TRUE(stage.process({host_tensor<std::uint8_t>("box", {3}, {1, 2, 3})}, {0, 0, 0, 0}));
    ASSERT_TRUE(stage.process({host_tensor<std::uint8_t>("box", {1}, {4})}, {1, 1, 1, 0}));
  });
  EXPECT_EQ(batch_with(0), samples);
  EXPECT_EQ(batch_with(77), samples);
}

}  // namespace
}  // namespace brigade
