#include <gtest/gtest.h>

#include <chrono>

#include <brigade/harness.h>
#include "stages/basic/basic_stages.h"

namespace brigade {
namespace {

using namespace testing_support;

/// Six samples [2] u8 "image" and [] i64 "label"; sample i has id 10 + i.
struct Six {
  std::vector<std::uint8_t> images = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::vector<std::int64_t> labels = {0, 1, 2, 3, 4, 5};
  std::vector<std::uint64_t> ids = {10, 11, 12, 13, 14, 15};
  std::uint32_t epoch = 0;
  std::string name = "image";
  bool two_columns = false;
};

class CountTest : public testing::Test {
 protected:
  static std::unique_ptr<StageHarness> open_count(ParamTexts params = {}) {
    StageTypes types;
    add_count(types);
    const Ports in{{"image", u8, {2}}, {"label", i64, {}}};
    return StageHarness::open(types.all()[0], {std::move(params), in, {}}).value();
  }

  /// Feeds samples [from, to) as one batch, or as one sample when `batched` is false.
  static void feed(StageHarness& stage, const Six& six, std::size_t from, std::size_t to,
                   bool batched = true) {
    const auto slots = static_cast<std::int64_t>(to - from);
    const auto at = static_cast<std::ptrdiff_t>(from);
    const auto end = static_cast<std::ptrdiff_t>(to);
    std::vector<SampleInfo> infos;
    for (std::size_t i = from; i < to; ++i) infos.push_back({i, i, six.ids[i], six.epoch});
    Shape image{slots, 2};
    if (six.two_columns) image = {slots, 2, 1};
    const std::vector<std::uint8_t> pixels(six.images.begin() + 2 * at,
                                           six.images.begin() + 2 * end);
    const std::vector<std::int64_t> labels(six.labels.begin() + at, six.labels.begin() + end);
    if (batched) {
      ASSERT_TRUE(stage.process_batch(
          {host_tensor(six.name, image, pixels), host_tensor("label", Shape{slots}, labels)},
          infos));
    } else {
      ASSERT_TRUE(stage.process({host_tensor(six.name, sample_shape(image), pixels),
                                 host_tensor("label", Shape{}, labels)},
                                infos[0]));
    }
  }

  static std::map<std::string, std::uint64_t> counts(const Six& six, std::size_t batch,
                                                     bool batched = true) {
    const auto stage = open_count();
    for (std::size_t i = 0; i < 6; i += batch)
      feed(*stage, six, i, std::min<std::size_t>(i + batch, 6), batched);
    EXPECT_TRUE(stage->close());
    return stage->reports.counts;
  }
};

TEST_F(CountTest, CountsSamplesAndCalls) {
  auto reports = counts(Six{}, 4);
  EXPECT_EQ(reports["samples"], 6u);
  EXPECT_EQ(reports["batches"], 2u);
}

TEST_F(CountTest, ChecksumsDoNotDependOnTheBatchSize) {
  const auto whole = counts(Six{}, 6);
  auto others = {counts(Six{}, 1), counts(Six{}, 4), counts(Six{}, 1, false)};
  for (auto other : others) {
    EXPECT_EQ(other.at("checksum"), whole.at("checksum"));
    EXPECT_EQ(other.at("set_checksum"), whole.at("set_checksum"));
  }
}

TEST_F(CountTest, EverythingAboutASampleChangesBothChecksums) {
  const auto plain = counts(Six{}, 3);
  std::vector<Six> changed(6);
  changed[0].images[11] = 0;
  changed[1].labels[2] = 9;
  changed[2].ids[5] = 99;
  changed[3].epoch = 1;
  changed[4].name = "img";
  changed[5].two_columns = true;
  for (std::size_t i = 0; i < changed.size(); ++i) {
    const auto other = counts(changed[i], 3);
    EXPECT_NE(other.at("checksum"), plain.at("checksum")) << i;
    EXPECT_NE(other.at("set_checksum"), plain.at("set_checksum")) << i;
  }
}

TEST_F(CountTest, OnlyTheChecksumSeesTheOrder) {
  const auto forwards = open_count();
  feed(*forwards, Six{}, 0, 3);
  feed(*forwards, Six{}, 3, 6);
  const auto backwards = open_count();
  feed(*backwards, Six{}, 3, 6);
  feed(*backwards, Six{}, 0, 3);
  ASSERT_TRUE(forwards->epoch_end(0));
  ASSERT_TRUE(backwards->epoch_end(0));
  EXPECT_NE(forwards->reports.counts["checksum"], backwards->reports.counts["checksum"]);
  EXPECT_EQ(forwards->reports.counts["set_checksum"], backwards->reports.counts["set_checksum"]);
}

TEST_F(CountTest, ALostSampleChangesTheSetChecksum) {
  const auto stage = open_count();
  feed(*stage, Six{}, 0, 5);
  ASSERT_TRUE(stage->close());
  EXPECT_NE(stage->reports.counts["set_checksum"], counts(Six{}, 6).at("set_checksum"));
}

TEST_F(CountTest, ChecksumsCanBeSwitchedOff) {
  const auto stage = open_count({{"checksum", "false"}});
  feed(*stage, Six{}, 0, 6);
  ASSERT_TRUE(stage->close());
  EXPECT_EQ(stage->reports.counts.count("checksum"), 0u);
  EXPECT_EQ(stage->reports.counts["samples"], 6u);
}

TEST_F(CountTest, SleepsInEveryCall) {
  const auto stage = open_count({{"sleep_ms", "5"}});
  const auto start = std::chrono::steady_clock::now();
  feed(*stage, Six{}, 0, 3);
  feed(*stage, Six{}, 3, 6);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(10));
}

TEST_F(CountTest, OfARaggedTensorOnlyTheValidBytesCount) {
  StageTypes types;
  add_count(types);
  const Ports in{{"box", u8, {up_to(4)}}};
  const auto sum = [&](auto feed_slots) {
    const auto stage = StageHarness::open(types.all()[0], {{}, in, {}}).value();
    feed_slots(*stage);
    EXPECT_TRUE(stage->close());
    return stage->reports.counts["checksum"];
  };
  const auto batch_with = [&](std::uint8_t padding) {
    return sum([padding](StageHarness& stage) {
      const std::uint8_t p = padding;
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
