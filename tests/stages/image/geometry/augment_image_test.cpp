#include <gtest/gtest.h>

#include <brigade/harness.h>
#include "stages/image/image_stages.h"

namespace brigade {
namespace {

using namespace testing_support;

using Pixels = std::vector<std::uint8_t>;

struct Sizes {
  std::int64_t height, width, channels, pad, crop;
};

Result<std::unique_ptr<StageHarness>> open_augment(const Sizes& s, double flip,
                                                   std::uint64_t seed = 7) {
  StageTypes types;
  add_augment_image(types);
  OpenContext context;
  context.seed = seed;
  context.stage = "augment";
  return StageHarness::open(
      types.all()[0], {{{"pad", concat(s.pad)}, {"crop", concat(s.crop)}, {"flip", concat(flip)}},
                       {{"image", u8, {s.height, s.width, s.channels}}},
                       context});
}

HostTensor numbered_image(const Sizes& s) {
  Pixels pixels(static_cast<std::size_t>(s.height * s.width * s.channels));
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<std::uint8_t>(i % 251 + 1);
  return host_tensor("image", {s.height, s.width, s.channels}, pixels);
}

/// The documented semantics, pixel by pixel.
Pixels expected(const Sizes& s, double flip, const HostTensor& image, Philox random) {
  const Pixels in = image.as<std::uint8_t>();
  const std::int64_t out_height = s.crop > 0 ? s.crop : s.height;
  const std::int64_t out_width = s.crop > 0 ? s.crop : s.width;
  const auto places_y = static_cast<std::uint64_t>(s.height + 2 * s.pad - out_height + 1);
  const auto places_x = static_cast<std::uint64_t>(s.width + 2 * s.pad - out_width + 1);
  const auto y = places_y == 1 ? 0 : static_cast<std::int64_t>(random.below(places_y));
  const auto x = places_x == 1 ? 0 : static_cast<std::int64_t>(random.below(places_x));
  const bool mirrored = flip == 1 || (flip > 0 && random.chance(flip));
  Pixels out;
  for (std::int64_t row = 0; row < out_height; ++row) {
    for (std::int64_t column = 0; column < out_width; ++column) {
      const std::int64_t from_row = y + row - s.pad;
      const std::int64_t from_column = x + (mirrored ? out_width - 1 - column : column) - s.pad;
      const bool inside =
          from_row >= 0 && from_row < s.height && from_column >= 0 && from_column < s.width;
      for (std::int64_t c = 0; c < s.channels; ++c) {
        const std::int64_t at = (from_row * s.width + from_column) * s.channels + c;
        out.push_back(inside ? in[static_cast<std::size_t>(at)] : 0);
      }
    }
  }
  return out;
}

TEST(AugmentImageTest, DoesWhatIsDocumentedForEveryKindOfSize) {
  const Sizes all[] = {
      {28, 28, 1, 2, 28},  // the same size: one run of bytes
      {28, 28, 1, 0, 28},  // nothing but flips
      {28, 28, 1, 2, 0},   // crop 0 keeps the size
      {28, 30, 1, 3, 0},   // not square
      {32, 32, 3, 4, 32},  // colours
      {32, 40, 3, 0, 20},  // a smaller cut
      {9, 9, 1, 5, 19},    // the whole padded image: no choice
      {5, 7, 2, 30, 5},    // may see nothing but padding
      {7, 7, 1, 30, 7},    // the same with rows of one length
      {1, 1, 1, 1, 1},     // shorter than a machine word
      {3, 17, 4, 2, 7},
  };
  for (const Sizes& s : all) {
    for (double flip : {0.0, 0.5, 1.0}) {
      const auto stage = open_augment(s, flip).value();
      const HostTensor image = numbered_image(s);
      for (std::uint64_t id = 0; id < 50; ++id) {
        const auto epoch = static_cast<std::uint32_t>(id % 3);
        const HarnessCall call =
            stage->process({image}, {.number = 99 - id, .id = id, .epoch = epoch}).value();
        const Philox random(7, stream_id("augment"), epoch, id);
        ASSERT_EQ(call["image"].as<std::uint8_t>(), expected(s, flip, image, random))
            << s.height << "x" << s.width << "x" << s.channels << " pad " << s.pad << " crop "
            << s.crop << " flip " << flip << " id " << id;
      }
    }
  }
}

}  // namespace
}  // namespace brigade
