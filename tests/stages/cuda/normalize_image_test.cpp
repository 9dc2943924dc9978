// On the CPU; on devices: gpu/normalize_on_device_test.cpp.
#include <brigade/cuda.h>
#include <gtest/gtest.h>

#include <brigade/harness.h>
#include "stages/basic/half_float.h"
#include "stages/cuda/cuda_stages.h"
#include "stages/image/image_stages.h"
#include "tests/stages/cuda/made_pictures.h"
#include "tests/support/message_of.h"
#include "tests/support/only_type.h"

namespace brigade::cuda {
namespace {

using namespace testing_support;

const Ports kPictures = {{"image", u8, {Dim(32), Dim(32), Dim(3)}}};

std::unique_ptr<StageHarness> opened(void (*add)(StageTypes&), ParamTexts params) {
  StageTypes types;
  add(types);
  OpenContext context;
  context.seed = 7;
  context.stage = "train";
  return StageHarness::open(types.all()[0], {std::move(params), kPictures, context}).value();
}

TEST(NormalizeImage, CutsAndMirrorsEachSampleAsAugmentImageDoes) {
  const ParamTexts cut = {{"pad", "4"}, {"crop", "24"}, {"flip", "0.5"}};
  ParamTexts in_place = cut;
  in_place.emplace_back("channels_last", "true");
  const auto cutter = opened(add_augment_image, cut);
  const auto stage = opened(add_normalize_image, in_place);
  const std::int64_t batch = 20;
  const auto levels = made_levels(batch * 32 * 32 * 3, 1);
  std::vector<SampleInfo> samples(batch);
  for (std::int64_t i = 0; i < batch; ++i)
    samples[static_cast<std::size_t>(i)] = {.id = static_cast<std::uint64_t>(100 + i), .epoch = 3};
  const HostTensor pictures = host_tensor("image", Shape{batch, 32, 32, 3}, levels);
  const auto floats = stage->process_batch({pictures}, samples).value()["image"].as<float>();
  std::vector<float> wanted;
  for (std::int64_t i = 0; i < batch; ++i) {
    const auto first = levels.begin() + i * 32 * 32 * 3;
    const HostTensor one = host_tensor("image", Shape{32, 32, 3},
                                       std::vector<std::uint8_t>(first, first + 32 * 32 * 3));
    const auto& sample = samples[static_cast<std::size_t>(i)];
    for (const std::uint8_t level :
         cutter->process({one}, sample).value()["image"].as<std::uint8_t>())
      wanted.push_back(static_cast<float>(level) / 255);
  }
  EXPECT_EQ(floats, wanted);
}

TEST(NormalizeImage, GivesTheFloatsOfTheHeaderInEachType) {
  Normalization to = pictures_of(32, 32);
  to.cut_height = to.cut_width = 28;
  const Cut cuts[] = {centre_cut(to), centre_cut(to)};
  const auto levels = made_levels(2 * 32 * 32 * 3, 2);
  const HostTensor pictures = host_tensor("image", Shape{2, 32, 32, 3}, levels);
  for (const DType dtype : {f32, f16, bf16}) {
    to.dtype = dtype;
    std::vector<std::byte> wanted(2 * 28 * 28 * 3 * dtype_bytes(dtype));
    ASSERT_TRUE(normalize(to, cuts, levels.data(), wanted.data()).ok());
    const auto stage = opened(add_normalize_image, {{"crop", "28"},
                                                    {"place", "centre"},
                                                    {"mean", "[0.485, 0.456, 0.406]"},
                                                    {"std", "[0.229, 0.224, 0.225]"},
                                                    {"dtype", std::string(dtype_name(dtype))}});
    EXPECT_EQ(stage->outputs(), (Ports{{"image", dtype, {Dim(3), Dim(28), Dim(28)}}}));
    const HostTensor made = stage->process_batch({pictures}, {{}, {}}).value()["image"];
    ASSERT_EQ(made.bytes.size(), wanted.size());
    EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), made.bytes.begin())) << dtype_name(dtype);
  }
}

}  // namespace
}  // namespace brigade::cuda
