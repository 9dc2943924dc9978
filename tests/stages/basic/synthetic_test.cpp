#include <gtest/gtest.h>

#include <set>

#include <brigade/harness.h>
#include "stages/basic/basic_stages.h"
#include "stages/basic/half_float.h"

namespace brigade {
namespace {

using namespace testing_support;

std::unique_ptr<StageHarness> open_synthetic(ParamTexts params, std::uint64_t seed = 1) {
  StageTypes types;
  add_synthetic(types);
  OpenContext context;
  context.seed = seed;
  return StageHarness::open(types.all()[0], {std::move(params), {}, context}).value();
}

HostTensor read(ParamTexts params, std::uint64_t index, std::uint64_t seed = 1) {
  return open_synthetic(std::move(params), seed)->read(index).value()["data"];
}

TEST(SyntheticTest, RandomDependsOnSeedAndIndexOnly) {
  const ParamTexts params = {{"shape", "[13]"}, {"dtype", "u8"}, {"fill", "random"}};
  const auto stage = open_synthetic(params);
  const HostTensor first = stage->read(5).value()["data"];
  (void)stage->read(6).value();
  EXPECT_EQ(stage->read(5).value()["data"], first);
  EXPECT_EQ(read(params, 5), first);
  EXPECT_FALSE(read(params, 6) == first);
  EXPECT_FALSE(read(params, 5, 2) == first);
}

TEST(SyntheticTest, RandomBytesReachTheLastElement) {
  // 256 samples of 13 bytes: a byte that is never written would stay at the harness's 0xA5.
  const auto stage = open_synthetic({{"shape", "[13]"}, {"dtype", "u8"}, {"fill", "random"}});
  std::vector<std::set<int>> seen(13);
  for (std::uint64_t i = 0; i < 256; ++i) {
    const auto bytes = stage->read(i).value()["data"].as<std::uint8_t>();
    for (std::size_t at = 0; at < bytes.size(); ++at) seen[at].insert(bytes[at]);
  }
  for (const auto& values : seen) EXPECT_GT(values.size(), 100u);
}

TEST(SyntheticTest, RandomFloatsLieBetweenZeroAndOne) {
  double sum = 0;
  for (float value :
       read({{"shape", "[1000]"}, {"dtype", "f32"}, {"fill", "random"}}, 3).as<float>()) {
    EXPECT_GE(value, 0);
    EXPECT_LT(value, 1);
    sum += value;
  }
  EXPECT_NEAR(sum / 1000, 0.5, 0.05);
  const auto halves = read({{"shape", "[100]"}, {"dtype", "f16"}, {"fill", "random"}}, 3);
  for (Half half : halves.as<Half>()) EXPECT_LT(half.bits, 0x3c00);  // 1.0
  const auto brains = read({{"shape", "[100]"}, {"dtype", "bf16"}, {"fill", "random"}}, 3);
  for (BFloat16 value : brains.as<BFloat16>()) EXPECT_LT(value.bits, 0x3f80);
  for (double value :
       read({{"shape", "[9]"}, {"dtype", "f64"}, {"fill", "random"}}, 3).as<double>())
    EXPECT_TRUE(value >= 0 && value < 1);
  const auto flags = read({{"shape", "[100]"}, {"dtype", "bool"}, {"fill", "random"}}, 3);
  for (std::byte byte : flags.bytes) EXPECT_LE(static_cast<int>(byte), 1);
}

TEST(SyntheticTest, VaryGivesEachSampleASizeOfItsOwn) {
  const auto stage = open_synthetic({{"shape", "[9, 2]"}, {"vary", "true"}, {"dtype", "i32"}});
  EXPECT_EQ(stage->outputs(), (Ports{{"data", i32, {up_to(9), 2}}}));
  std::set<std::int64_t> sizes;
  for (std::uint64_t index = 0; index < 200; ++index) {
    const HostTensor data = stage->read(index).value()["data"];
    sizes.insert(data.shape[0]);
    EXPECT_EQ(data.as<std::int32_t>(),
              std::vector<std::int32_t>(static_cast<std::size_t>(data.shape[0]) * 2,
                                        static_cast<std::int32_t>(index)));
  }
  EXPECT_EQ(sizes, (std::set<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

}  // namespace
}  // namespace brigade
