// On the CPU; on devices: gpu/normalize_on_device_test.cpp.
#include <brigade/cuda.h>
#include <gtest/gtest.h>

#include <brigade/harness.h>
#include "stages/cuda/cuda_stages.h"
#include "tests/stages/cuda/made_pictures.h"
#include "tests/support/only_type.h"

namespace brigade::cuda {
namespace {

using namespace testing_support;

/// Two pictures as the stage makes them, and by the header with the cuts of these samples.
void expect_floats_of_header(const Normalization& to, bool centre) {
  const std::vector<SampleInfo> samples = {{.id = 100, .epoch = 3}, {.id = 101, .epoch = 3}};
  std::vector<Cut> cuts;
  for (const SampleInfo& sample : samples)
    cuts.push_back(
        centre ? centre_cut(to)
               : random_cut(to, 0.5, Philox(7, stream_id("train"), sample.epoch, sample.id)));
  const auto levels = made_levels(2 * 32 * 32 * 3, 2);
  std::vector<std::byte> wanted(2 * 28 * 28 * 3 * dtype_bytes(to.dtype));
  ASSERT_TRUE(normalize(to, cuts, levels.data(), wanted.data()).ok());
  OpenContext context;
  context.seed = 7;
  context.stage = "train";
  const auto stage = StageHarness::open(only_type<add_normalize_image>(),
                                        {{{"pad", concat(to.pad)},
                                          {"crop", "28"},
                                          {"place", centre ? "centre" : "random"},
                                          {"flip", centre ? "0" : "0.5"},
                                          {"mean", "[0.485, 0.456, 0.406]"},
                                          {"std", "[0.229, 0.224, 0.225]"},
                                          {"channels_last", to.channels_last ? "true" : "false"},
                                          {"dtype", std::string(dtype_name(to.dtype))}},
                                         {{"image", u8, {Dim(32), Dim(32), Dim(3)}}},
                                         context})
                         .value();
  const HostTensor made =
      stage->process_batch({host_tensor("image", Shape{2, 32, 32, 3}, levels)}, samples)
          .value()["image"];
  EXPECT_EQ(made.shape, to.channels_last ? (Shape{2, 28, 28, 3}) : (Shape{2, 3, 28, 28}));
  EXPECT_EQ(made.dtype, to.dtype);
  EXPECT_EQ(made.bytes, wanted);
}

TEST(NormalizeImage, GivesTheFloatsOfTheHeaderInEachTypeAndOrder) {
  Normalization to = pictures_of(32, 32);
  to.cut_height = to.cut_width = 28;
  to.pad = 4;
  for (const DType dtype : {f32, f16, bf16})
    for (const bool last : {false, true})
      for (const bool centre : {false, true}) {
        to.dtype = dtype;
        to.channels_last = last;
        expect_floats_of_header(to, centre);
      }
}

}  // namespace
}  // namespace brigade::cuda
