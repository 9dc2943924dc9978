#include "stages/torch/picture_floats.h"

#include <gtest/gtest.h>

#include <numeric>

namespace brigade {
namespace {

/// Two pictures of 4 x 6 pixels with 3 channels, of samples 7 and 8.
struct TwoPictures {
  explicit TwoPictures(DType dtype) : levels(2 * 4 * 6 * 3 * dtype_bytes(dtype)) {
    std::iota(levels.begin(), levels.end(), std::uint8_t{0});
    Field image;
    image.name = "image";
    image.dtype = dtype;
    image.shape = {2, 4, 6, 3};
    image.sample_shape = {4, 6, 3};
    image.data = reinterpret_cast<std::byte*>(levels.data());
    image.sample_stride = levels.size() / 2;
    frame.fields = {image};
    frame.infos = infos;
    frame.samples = 2;
    frame.batched = true;
    frame.seed = 5;
    frame.stream = stream_id("train");
  }
  std::vector<std::uint8_t> levels;
  SampleInfo infos[2] = {{0, 0, 7, 1}, {1, 1, 8, 1}};
  Frame frame;
};

constexpr PictureSizes kSizes{ChannelOrder::hwc, 4, 6, 3};

TEST(PictureFloatsTest, LevelsAreNormalisedInThePrecisionAndOrderThatIsAskedFor) {
  const TwoPictures two(u8);
  TorchClassifierParams params;
  params.mean = {0.1, 0.2, 0.3};
  params.std = {0.5};
  params.channels_last = true;
  const PictureFloats floats(params, kSizes, at::kCPU, at::kBFloat16);
  const at::Tensor out = floats
                             .of(Inputs(two.frame), torch_view(Inputs(two.frame)["image"]),
                                 PictureFloats::For::evaluation)
                             .value();
  EXPECT_EQ(out.scalar_type(), at::kBFloat16);
  EXPECT_TRUE(out.is_contiguous(at::MemoryFormat::ChannelsLast));
  const at::Tensor levels =
      torch_view(Inputs(two.frame)["image"]).permute({0, 3, 1, 2}).to(at::kFloat);
  const at::Tensor mean = at::tensor({0.1F, 0.2F, 0.3F}).view({1, 3, 1, 1});
  EXPECT_TRUE(at::equal(out, ((levels / 255 - mean) / 0.5).to(at::kBFloat16)));
}

TEST(PictureFloatsTest, TrainingCutsAsTheSampleSaysAndEvaluationInTheMiddle) {
  const TwoPictures two(u8);
  TorchClassifierParams params;
  params.pad = 1;
  params.crop = 3;
  params.flip = 0.5;
  params.mean = {0};
  params.std = {1};
  const PictureFloats floats(params, kSizes, at::kCPU, at::kFloat);
  EXPECT_EQ(floats.height(), 3);
  const Inputs in(two.frame);
  const at::Tensor padded = at::constant_pad_nd(
      torch_view(in["image"]).permute({0, 3, 1, 2}).to(at::kFloat) / 255, {1, 1, 1, 1});
  const at::Tensor middle =
      floats.of(in, torch_view(in["image"]), PictureFloats::For::evaluation).value();
  EXPECT_TRUE(at::equal(middle, padded.narrow(2, 1, 3).narrow(3, 2, 3)));
  const at::Tensor out =
      floats.of(in, torch_view(in["image"]), PictureFloats::For::training).value();
  for (std::int64_t i = 0; i < 2; ++i) {
    const cuda::Cut cut =
        cuda::random_cut(normalization_of(params, kSizes), 0.5,
                         Philox(5, stream_id("train"), 1, static_cast<std::uint64_t>(7 + i)));
    at::Tensor expected = padded[i].narrow(1, cut.y, 3).narrow(2, cut.x, 3);
    if (cut.mirrored) expected = expected.flip({2});
    EXPECT_TRUE(at::equal(out[i], expected)) << i;
  }
}

TEST(PictureFloatsTest, FloatsStayAsTheyAre) {
  const TwoPictures two(f16);
  const PictureFloats floats({}, kSizes, at::kCPU, at::kFloat);
  const at::Tensor out = floats
                             .of(Inputs(two.frame), torch_view(Inputs(two.frame)["image"]),
                                 PictureFloats::For::training)
                             .value();
  EXPECT_EQ(out.scalar_type(), at::kFloat);
  EXPECT_EQ(out.sizes(), (at::IntArrayRef{2, 3, 4, 6}));
}

}  // namespace
}  // namespace brigade
