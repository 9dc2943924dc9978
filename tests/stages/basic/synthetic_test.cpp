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

TEST(SyntheticTest, GivesWhatItsParametersSay) {
  const auto stage = open_synthetic({{"count", "12"}, {"shape", "[2, 3]"}, {"dtype", "u8"}});
  EXPECT_EQ(stage->outputs(), (Ports{{"data", u8, {2, 3}}}));
  EXPECT_EQ(*stage->producer().size(), 12u);
}

TEST(SyntheticTest, ByDefaultASampleIsItsIndex) {
  EXPECT_EQ(read({}, 41).as<std::int64_t>(), std::vector<std::int64_t>{41});
}

TEST(SyntheticTest, IndexFillsEveryElementOfEveryDType) {
  const auto of = [](const char* dtype, std::uint64_t index) {
    return read({{"shape", "[2]"}, {"dtype", dtype}}, index);
  };
  EXPECT_EQ(of("u8", 300).as<std::uint8_t>(), (std::vector<std::uint8_t>{44, 44}));
  EXPECT_EQ(of("i8", 200).as<std::int8_t>(), (std::vector<std::int8_t>{-56, -56}));
  EXPECT_EQ(of("i16", 300).as<std::int16_t>(), (std::vector<std::int16_t>{300, 300}));
  EXPECT_EQ(of("i32", 300).as<std::int32_t>(), (std::vector<std::int32_t>{300, 300}));
  EXPECT_EQ(of("f32", 7).as<float>(), (std::vector<float>{7, 7}));
  EXPECT_EQ(of("f64", 7).as<double>(), (std::vector<double>{7, 7}));
  EXPECT_EQ(of("f16", 7).as<Half>()[1].bits, to_half(7).bits);
  EXPECT_EQ(of("bf16", 7).as<BFloat16>()[1].bits, to_bfloat16(7).bits);
  EXPECT_EQ(of("bool", 2).as<bool>(), (std::vector<bool>{true, true}));
  EXPECT_EQ(of("bool", 0).as<bool>(), (std::vector<bool>{false, false}));
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

TEST(SyntheticTest, NoneLeavesTheMemoryAlone) {
  const HostTensor data = read({{"shape", "[3]"}, {"dtype", "u8"}, {"fill", "none"}}, 1);
  EXPECT_EQ(data.as<std::uint8_t>(), (std::vector<std::uint8_t>{0xA5, 0xA5, 0xA5}));
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

TEST(SyntheticTest, TooManyDimensionsAreAnError) {
  StageTypes types;
  add_synthetic(types);
  const auto stage =
      StageHarness::open(types.all()[0], {{{"shape", "[1, 1, 1, 1, 1, 1, 1, 1]"}}, {}, {}});
  ASSERT_FALSE(stage);
  EXPECT_EQ(stage.error().message, "shape has 8 dimensions; at most 7 fit");
}

}  // namespace
}  // namespace brigade
