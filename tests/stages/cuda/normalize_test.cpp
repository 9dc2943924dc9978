#include "stages/cuda/normalize.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <brigade/harness.h>
#include "stages/basic/half_float.h"
#include "stages/image/image_stages.h"
#include "tests/stages/cuda/made_pictures.h"
#include "tests/support/only_type.h"

namespace brigade::cuda {
namespace {

using namespace testing_support;
using testing::HasSubstr;

/// What the stages augment_image and then augment make of a picture, in CHW.
std::vector<float> by_stages(const Normalization& to, double flip, const HostTensor& picture,
                             const SampleInfo& sample) {
  OpenContext context;
  context.seed = 7;
  context.stage = "train";
  const Shape shape = picture.shape;
  const auto cutter =
      StageHarness::open(
          only_type<add_augment_image>(),
          {{{"pad", concat(to.pad)}, {"crop", concat(to.cut_height)}, {"flip", concat(flip)}},
           {{"image", u8, {shape[0], shape[1], shape[2]}}},
           context})
          .value();
  const HostTensor cut = cutter->process({picture}, sample).value()["image"];
  const auto scaler =
      StageHarness::open(only_type<add_augment>(),
                         {{{"operations", "[]"},
                           {"dtype", "f32"},
                           {"layout", "CHW"},
                           {"mean", "[0.485, 0.456, 0.406]"},
                           {"std", "[0.229, 0.224, 0.225]"}},
                          {{"image", u8, {cut.shape[0], cut.shape[1], cut.shape[2]}}},
                          context})
          .value();
  return scaler->process({cut}, sample).value()["image"].as<float>();
}

TEST(NormalizeTest, IsWhatTheStagesMakeOfEachSampleToTheBit) {
  for (const std::int64_t cut : {32, 24, 40}) {
    Normalization to = pictures_of(32, 32);
    to.pad = 4;
    to.cut_height = to.cut_width = cut;
    for (std::uint64_t id = 0; id < 30; ++id) {
      const SampleInfo sample{.id = id, .epoch = 3};
      const HostTensor picture =
          host_tensor("image", Shape{32, 32, 3}, made_levels(32 * 32 * 3, id));
      const Cut drawn = random_cut(to, 0.5, Philox(7, stream_id("train"), 3, id));
      std::vector<float> values(static_cast<std::size_t>(cut * cut * 3));
      ASSERT_TRUE(
          normalize(to, {&drawn, 1}, picture.as<std::uint8_t>().data(), values.data()).ok());
      ASSERT_EQ(values, by_stages(to, 0.5, picture, sample)) << cut << ' ' << id;
    }
  }
}

TEST(NormalizeTest, EveryOrderOfPlanesAndDtypeHasTheSameValues) {
  Normalization to = pictures_of(7, 9);
  to.pad = 2;
  const std::vector<std::uint8_t> pictures = made_levels(2 * 7 * 9 * 3, 1);
  std::vector<std::uint8_t> planes(pictures.size());
  for (std::size_t at = 0; at < 2 * 7 * 9; ++at)
    for (std::size_t c = 0; c < 3; ++c)
      planes[at / 63 * 189 + c * 63 + at % 63] = pictures[at * 3 + c];
  const Cut cuts[] = {{4, 0, 1}, {1, 3, 0}};
  std::vector<float> first(pictures.size());
  ASSERT_TRUE(normalize(to, cuts, pictures.data(), first.data()).ok());
  const auto value_at = [&](std::size_t at, bool last) {  // where `first`, NCHW, has it
    const std::size_t in = at % 189;
    return last ? at / 189 * 189 + in % 63 * 3 + in / 63 : at;
  };
  for (const bool in_planes : {false, true}) {
    for (const bool last : {false, true}) {
      to.planes = in_planes;
      to.channels_last = last;
      const std::uint8_t* const from = in_planes ? planes.data() : pictures.data();
      std::vector<float> floats(first.size());
      std::vector<Half> halves(first.size());
      std::vector<BFloat16> brains(first.size());
      to.dtype = f32;
      ASSERT_TRUE(normalize(to, cuts, from, floats.data()).ok());
      to.dtype = f16;
      ASSERT_TRUE(normalize(to, cuts, from, halves.data()).ok());
      to.dtype = bf16;
      ASSERT_TRUE(normalize(to, cuts, from, brains.data()).ok());
      for (std::size_t at = 0; at < first.size(); ++at) {
        ASSERT_EQ(floats[value_at(at, last)], first[at]) << at;
        ASSERT_EQ(halves[value_at(at, last)].bits, to_half(first[at]).bits) << at;
        ASSERT_EQ(brains[value_at(at, last)].bits, to_bfloat16(first[at]).bits) << at;
      }
    }
  }
}

TEST(NormalizeTest, TheCutInTheMiddleIsThePictureWherePadAndCropMakeUpForEachOther) {
  Normalization to = pictures_of(28, 30);
  to.pad = 2;
  EXPECT_EQ(centre_cut(to), (Cut{2, 2, 0}));
  to.pad = 0;
  to.cut_height = to.cut_width = 20;
  EXPECT_EQ(centre_cut(to), (Cut{4, 5, 0}));
}

TEST(NormalizeTest, SaysWhatCannotBe) {
  const auto said = [](Normalization to, Cut cut = {}) {
    const auto done = normalize(to, {&cut, 1}, nullptr, nullptr);
    return done ? "nothing" : done.error().message;
  };
  Normalization to = pictures_of(4, 4);
  to.cut_height = 7;
  to.pad = 1;
  EXPECT_EQ(said(to), "a crop of 7 x 4 does not fit into the padded image of 6 x 6 pixels");
  to = pictures_of(4, 4);
  to.channels = 65;
  EXPECT_EQ(said(to), "expected images with 1 to 64 channels, found 65");
  to = pictures_of(1 << 20, 1 << 20);
  EXPECT_THAT(said(to), HasSubstr("less than 2 GiB, found 1048576 x 1048576"));
  to = pictures_of(4, 4);
  to.dtype = i64;
  EXPECT_EQ(said(to), "expected the dtype f32, f16 or bf16, found i64");
  to = pictures_of(4, 4);
  to.std[1] = 0;
  EXPECT_EQ(said(to), "std must be greater than 0, found 0 for channel 1");
  EXPECT_EQ(said(pictures_of(4, 4), {0, 1, 0}),
            "crop 0 begins at row 0, column 1; expected rows 0 to 0 and columns 0 to 0");
}

TEST(NormalizeTest, WithoutADriverOrKernelsItSaysSo) {
  if (void* const driver = dlopen("libcuda.so.1", RTLD_LAZY)) {
    dlclose(driver);
    GTEST_SKIP() << "NVIDIA's driver is here";
  }
  const auto done = normalize_on_gpu(pictures_of(4, 4), {}, nullptr, nullptr);
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message,
              HasSubstr(has_kernels() ? "libcuda.so.1 was not found" : "build it with nvcc"));
}

}  // namespace
}  // namespace brigade::cuda
