// The body of decode_image through the module's entry point.

#include <gtest/gtest.h>

#include <brigade/text.h>
#include "stages/image/geometry/crop.h"
#include "tests/support/images/decode_test.h"
#include "tests/support/images/exact_resize.h"
#include "tests/support/images/place_matrix.h"
#include "tests/support/message_of.h"

namespace brigade {
namespace {

using namespace testing_support;

using DecodeImageTest = DecodeTest;

/// What the definition says: all of it decoded, cut, and resized in double precision.
std::vector<double> reference(const Picture& full, const Cut& cut, bool antialias) {
  const Picture part =
      part_of(full, cut.rows.begin, cut.columns.begin, cut.rows.size, cut.columns.size);
  return resize_exactly(part, cut.rows.resized, cut.columns.resized, antialias);
}

TEST_F(DecodeImageTest, RandomCutsAreThoseOfAFullDecodeResizedExactly) {
  struct Case {
    std::int64_t height, width, size;
    bool antialias = true;
    double largest = 0.65, equal = 0;
  };
  for (const Case& c : {Case{180, 240, 64, true, 0.6, 0.93}, Case{180, 240, 64, false, 0.6, 0.93},
                        Case{1, 1, 9}, Case{1, 2000, 9}, Case{2000, 1, 9}, Case{7, 1500, 9}})
    for (std::uint64_t id = 0; id < 9; ++id) {
      const Picture picture = photograph(c.height, c.width);
      const std::string file =
          id % 3 == 1 ? write_png(picture) : write_jpeg(picture, {.progressive = id % 3 == 0});
      DecodeImageParams params;
      params.size = c.size;
      const Cut cut =
          choose_cut(params, c.height, c.width, Philox(0, stream_id("decode_image"), 0, id));
      const Picture found =
          decode({{"size", concat(c.size)}, {"quality", c.antialias ? "antialias" : "bilinear"}},
                 file, {.id = id});
      const Difference apart = difference(found, reference(decode(kWhole, file), cut, c.antialias));
      EXPECT_LT(apart.largest, c.largest) << c.height << " x " << c.width << ", " << id;
      EXPECT_GE(apart.equal, c.equal) << c.height << " x " << c.width << ", " << id;
    }
}

TEST_F(DecodeImageTest, SmallPicturesGetABlackBorder) {
  const Picture picture = photograph(4, 7);
  const Picture found = decode({{"crop", "center"}, {"size", "10"}}, write_png(picture));
  EXPECT_EQ(part_of(found, 3, 1, 4, 7), picture);
  const Picture mirrored =
      decode({{"crop", "center"}, {"size", "10"}, {"flip", "1"}}, write_png(picture));
  for (std::int64_t y = 0; y < 10; ++y)
    for (std::int64_t x = 0; x < 10; ++x) {
      const bool inside = y >= 3 && y < 7 && x >= 1 && x < 8;
      if (!inside) {
        EXPECT_EQ(found.at(y, x, 1), 0);
      }
      EXPECT_EQ(mirrored.at(y, 9 - x, 1), found.at(y, x, 1));
    }
}

TEST_F(DecodeImageTest, OrientationIsAppliedBeforeTheCut) {
  const Picture picture = photograph(60, 90);
  const Picture upright = decode(kWhole, write_jpeg(picture, {.orientation = 1}));
  for (int orientation = 2; orientation <= 8; ++orientation) {
    const std::string file = write_jpeg(picture, {.orientation = orientation});
    const Picture turned = decode(kWhole, file);
    EXPECT_EQ(turned.height, orientation >= 5 ? 90 : 60);
    if (orientation == 6) {
      EXPECT_EQ(turned.at(0, 59, 1), upright.at(0, 0, 1));
      EXPECT_EQ(turned.at(89, 0, 1), upright.at(59, 89, 1));
    }
    // The cut of a turned file is the cut of the turned picture.
    const ParamTexts params = {{"crop", "random_resized"}, {"size", "16"}};
    EXPECT_EQ(decode(params, file, {.id = 5}), decode(params, write_png(turned), {.id = 5}))
        << orientation;
  }
}

TEST_F(DecodeImageTest, SourcesOfBytesGiveTheSameImage) {
  const std::string file = write_jpeg(photograph(50, 60));
  const Picture expected = decode({}, file, {.id = 9});
  const auto encoded = open({}, {{"encoded", u8, {up_to(1 << 20)}}});
  EXPECT_EQ(image_of(encoded->process({bytes_tensor("encoded", file)}, {.id = 9}).value()),
            expected);
  const std::string shard = folder_.write("shard", "before" + file + "after");
  const auto range =
      open({}, {{"file", u8, {up_to(4096)}}, {"offset", i64, {}}, {"size", i64, {}}});
  const auto process = [&](std::int64_t offset) {
    return range->process(
        {bytes_tensor("file", shard + std::string(3, '\0')),
         host_tensor<std::int64_t>("offset", {}, {offset}),
         host_tensor<std::int64_t>("size", {}, {static_cast<std::int64_t>(file.size())})},
        {.id = 9});
  };
  EXPECT_EQ(image_of(process(6).value()), expected);
  const std::string error = process(60'000).error().message;
  EXPECT_TRUE(error.starts_with(shard + " at byte 60000: bytes 60000 to")) << error;
}

TEST_F(DecodeImageTest, TheGeometrySaysWhereEachPixelCameFrom) {
  const Picture picture{40, 52, 3, slopes(40, 52)};
  const std::string path = folder_.write("slopes.png", write_png(picture));
  for (const ParamTexts& cut :
       {ParamTexts{{"size", "32"}, {"scale", "[0.4, 1]"}, {"flip", "0.5"}},
        ParamTexts{{"crop", "center"}, {"size", "30"}, {"resize", "44"}, {"flip", "0.5"}},
        ParamTexts{{"crop", "center"}, {"size", "60"}, {"flip", "1"}},
        ParamTexts{{"crop", "none"}, {"size", "48"}}, kWhole}) {
    ParamTexts params = cut;
    params.emplace_back("geometry", "true");
    const auto stage = open(params);
    for (std::uint64_t id = 0; id < 8; ++id) {
      const auto call = stage->process({bytes_tensor("path", path)}, {.id = id}).value();
      const Picture image = image_of(call);
      const SlopesFound found = compare_slopes(image.bytes, image.height, image.width,
                                               call["geometry"].as<float>(), 40, 52, 4);
      EXPECT_LT(found.farthest, 0.8) << id;
      EXPECT_GT(found.pixels, 300) << id;
    }
  }
}

TEST_F(DecodeImageTest, AMaskMayLieInAFileOfItsOwnAndOneThatDoesNotFitIsAnError) {
  const std::string file = write_jpeg(photograph(50, 60));
  const Picture numbers = photograph(60, 50, 1);
  const PngOptions gray{.color_type = PNG_COLOR_TYPE_GRAY};
  const std::string mask = write_png(50, 60, numbers.bytes, gray);
  const Ports ports = {{"encoded", u8, {up_to(1 << 20)}},
                       {"seg_png", u8, {up_to(1 << 20)}},
                       {"mask_path", u8, {up_to(4096)}}};
  const auto decoded = [&](const char* by, const std::string& png, const std::string& path) {
    return open({{"size", "32"}, {"flip", "0.5"}, {by, by == std::string("mask") ? "seg_png" : by}},
                ports)
        ->process({bytes_tensor("encoded", file), bytes_tensor("seg_png", png),
                   bytes_tensor("mask_path", path)},
                  {.id = 4});
  };
  const std::string path = folder_.write("mask.png", mask);
  EXPECT_EQ(decoded("mask_path", "", path).value()["mask"].bytes,
            decoded("mask", mask, "").value()["mask"].bytes);
  EXPECT_EQ(decoded("mask_path", "", path + "s").error().message,
            concat("encoded image: its mask: ", path, "s: cannot open: No such file or directory"));
  const std::vector<std::uint8_t> wide(50 * 60 * 2);
  for (const auto& [png, error] :
       {std::pair(file, "it is not a PNG file"),
        {write_png(60, 50, numbers.bytes, gray), "it has 50 x 60 pixels, the image has 60 x 50"},
        {write_png(photograph(50, 60)),
         "it is a color image; a mask must be gray or have a palette, one class per pixel"},
        {write_png(50, 60, wide, {.bits = 16, .color_type = PNG_COLOR_TYPE_GRAY}),
         "it has 16 bits per pixel; a mask has at most 8"},
        {mask.substr(0, 40), "the PNG data ends too early"}})
    EXPECT_EQ(message_of(decoded("mask", png, "")), concat("encoded image: its mask: ", error));
}

TEST_F(DecodeImageTest, RandomBitsDependOnTheSampleOnly) {
  const std::string file = write_jpeg(photograph(80, 80));
  const ParamTexts params = {{"size", "16"}, {"flip", "0.5"}};
  const Picture first = decode(params, file, {.number = 3, .id = 1});
  EXPECT_EQ(first, decode(params, file, {.number = 70, .id = 1}));
  EXPECT_NE(first, decode(params, file, {.id = 2}));
  EXPECT_NE(first, decode(params, file, {.id = 1, .epoch = 1}));
}

TEST_F(DecodeImageTest, EvaluationIsTorchvisionsResizeAndCenterCrop) {
  // Resize(256), CenterCrop(224): 375 x 500 becomes 256 x 341, whose middle begins at (16, 58).
  const std::string file = write_jpeg(photograph(375, 500));
  const Picture full = decode(kWhole, file);
  const Picture found = decode({{"crop", "center"}, {"resize", "256"}, {"size", "224"}}, file);
  const std::vector<double> whole = resize_exactly(full, 256, 341, true);
  std::vector<double> expected;
  for (std::size_t y = 16; y < 16 + 224; ++y)
    for (std::size_t i = 0; i < 224 * 3; ++i) expected.push_back(whole[(y * 341 + 58) * 3 + i]);
  EXPECT_LT(difference(found, expected).largest, 0.6);
}

TEST_F(DecodeImageTest, BrokenFilesAreOneLineWithTheirPath) {
  const std::string file = write_jpeg(photograph(200, 200));
  EXPECT_EQ(error_of(""), "the file is empty");
  EXPECT_EQ(error_of(file, {{"crop", "none"}, {"size", "0"}, {"side_max", "100"}}),
            "it has 200 x 200 pixels, but side_max is 100; raise side_max, or set resize");
  std::string huge = write_jpeg(photograph(8, 8));
  const std::size_t frame = huge.find("\xff\xc0");
  for (std::size_t i = 5; i < 9; ++i) huge[frame + i] = '\xf0';
  EXPECT_EQ(error_of(huge), concat("the JPEG data ends too early: ", huge.size(),
                                   " bytes cannot hold 61680 x 61680 pixels"));
  const auto missing = open({})->process({bytes_tensor("path", "/none/x.jpg")});
  EXPECT_EQ(missing.error().message, "/none/x.jpg: cannot open: No such file or directory");
}

}  // namespace
}  // namespace brigade
