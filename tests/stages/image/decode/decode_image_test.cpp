// The body of decode_image through the module's entry point.

#include <gtest/gtest.h>

#include <brigade/text.h>
#include "stages/image/geometry/crop.h"
#include "tests/support/images/bmp_file.h"
#include "tests/support/images/decode_test.h"
#include "tests/support/images/exact_resize.h"
#include "tests/support/images/place_matrix.h"
#include "tests/support/images/plain_jpeg.h"

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
  for (const bool antialias : {true, false}) {
    for (std::uint64_t id = 0; id < 12; ++id) {
      const std::string file = write_jpeg(photograph(180, 240), {.progressive = id % 3 == 0});
      const Picture full = decode(kWhole, file);
      ASSERT_EQ(full.height, 180);
      DecodeImageParams params;
      params.size = 64;
      const Philox random(0, stream_id("decode_image"), 0, id);
      const Cut cut = choose_cut(params, 180, 240, random);
      const Picture found = decode(
          {{"size", "64"}, {"quality", antialias ? "antialias" : "bilinear"}}, file, {.id = id});
      const Difference apart = difference(found, reference(full, cut, antialias));
      EXPECT_LT(apart.largest, 0.6) << id;
      EXPECT_GT(apart.equal, 0.93) << id;
    }
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

/// A mask that is 1 wherever the picture is white: whatever is cut, so is the result.
TEST_F(DecodeImageTest, AMaskMovesWithItsPicture) {
  constexpr std::int64_t kHeight = 60;
  constexpr std::int64_t kWidth = 90;
  Picture picture = blank(kHeight, kWidth);
  std::vector<std::uint8_t> classes(kHeight * kWidth);
  for (std::int64_t y = 0; y < kHeight; ++y)
    for (std::int64_t x = 0; x < kWidth; ++x) {
      const bool white = x >= 20 && x < 50 && y >= 10 && y < 50;
      classes[static_cast<std::size_t>(y * kWidth + x)] = white;
      for (std::int64_t c = 0; c < 3; ++c) picture.at(y, x, c) = white ? 255 : 0;
    }
  const std::string file = write_png(picture);
  const std::string mask = write_png(kHeight, kWidth, classes, {.color_type = PNG_COLOR_TYPE_GRAY});
  const Ports ports = {{"encoded", u8, {up_to(1 << 20)}}, {"seg_png", u8, {up_to(1 << 20)}}};
  const ParamTexts cuts[] = {{{"size", "48"}, {"flip", "0.5"}},
                             {{"crop", "center"}, {"size", "30"}, {"resize", "40"}},
                             {{"crop", "center"}, {"size", "100"}, {"flip", "1"}},
                             {{"crop", "none"}, {"size", "0"}},
                             {{"crop", "none"}, {"size", "0"}, {"resize", "31"}, {"flip", "1"}}};
  for (ParamTexts params : cuts) {
    params.emplace_back("mask", "seg_png");
    for (std::uint64_t id = 0; id < 20; ++id) {
      const auto stage = open(params, ports);
      const auto call = stage->process(
          {bytes_tensor("encoded", file), bytes_tensor("seg_png", mask)}, {.id = id});
      ASSERT_TRUE(call) << call.error().message;
      const Picture image = image_of(*call);
      const HostTensor& found = (*call)["mask"];
      ASSERT_EQ(found.shape, (Shape{image.height, image.width}));
      int apart = 0;  // at the edges the filter mixes
      for (std::int64_t y = 0; y < image.height; ++y)
        for (std::int64_t x = 0; x < image.width; ++x) {
          const int level = image.at(y, x, 0);
          const bool white =
              found.as<std::uint8_t>()[static_cast<std::size_t>(y * image.width + x)];
          if ((level == 0 && white) || (level == 255 && !white)) ++apart;
        }
      EXPECT_EQ(apart, 0) << id;
    }
  }
  const auto plain =
      open(cuts[0], ports)
          ->process({bytes_tensor("encoded", file), bytes_tensor("seg_png", mask)}, {.id = 3});
  const ParamTexts with = {{"size", "48"}, {"flip", "0.5"}, {"mask", "seg_png"}};
  const auto masked =
      open(with, ports)
          ->process({bytes_tensor("encoded", file), bytes_tensor("seg_png", mask)}, {.id = 3});
  EXPECT_EQ(image_of(*plain), image_of(*masked)) << "a mask changes nothing of what is drawn";
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

TEST_F(DecodeImageTest, AMaskMayLieInAFileOfItsOwn) {
  const std::string file = write_jpeg(photograph(50, 60));
  std::vector<std::uint8_t> classes(50 * 60);
  for (std::size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<std::uint8_t>(i % 7);
  const std::string mask = write_png(50, 60, classes, {.color_type = PNG_COLOR_TYPE_GRAY});
  const std::string path = folder_.write("mask.png", mask);
  const Ports ports = {{"encoded", u8, {up_to(1 << 20)}},
                       {"seg_png", u8, {up_to(1 << 20)}},
                       {"mask_path", u8, {up_to(4096)}}};
  const auto decoded = [&](const ParamTexts& more, const std::string& mask_path) {
    ParamTexts params = {{"size", "32"}, {"flip", "0.5"}};
    params.insert(params.end(), more.begin(), more.end());
    return open(params, ports)
        ->process({bytes_tensor("encoded", file), bytes_tensor("seg_png", mask),
                   bytes_tensor("mask_path", mask_path)},
                  {.id = 4});
  };
  const auto of_file = decoded({{"mask_path", "mask_path"}}, path);
  ASSERT_TRUE(of_file) << of_file.error().message;
  EXPECT_EQ((*of_file)["mask"].bytes, (*decoded({{"mask", "seg_png"}}, path))["mask"].bytes);
  EXPECT_EQ(decoded({{"mask_path", "mask_path"}}, path + "s").error().message,
            concat("encoded image: its mask: ", path, "s: cannot open: No such file or directory"));
}

TEST_F(DecodeImageTest, AMaskThatDoesNotFitIsAnErrorOfItsSample) {
  const std::string file = write_jpeg(photograph(50, 60));
  const auto error_with = [&](const std::string& mask) {
    const auto stage = open({{"mask", "seg_png"}, {"mask_fill", "255"}},
                            {{"encoded", u8, {up_to(1 << 20)}}, {"seg_png", u8, {up_to(1 << 20)}}});
    const auto call =
        stage->process({bytes_tensor("encoded", file), bytes_tensor("seg_png", mask)});
    return call ? "no error" : call.error().message;
  };
  const std::vector<std::uint8_t> classes(50 * 60 * 2);
  const PngOptions gray{.color_type = PNG_COLOR_TYPE_GRAY};
  EXPECT_EQ(error_with(write_png(50, 60, classes, gray)), "no error");
  EXPECT_EQ(error_with(file), "encoded image: its mask: it is not a PNG file");
  EXPECT_EQ(error_with(write_png(60, 50, classes, gray)),
            "encoded image: its mask: it has 50 x 60 pixels, the image has 60 x 50");
  EXPECT_EQ(error_with(write_png(photograph(50, 60))),
            "encoded image: its mask: it is a color image; a mask must be gray or have a palette, "
            "one class per pixel");
  EXPECT_EQ(error_with(write_png(50, 60, classes, {.bits = 16, .color_type = PNG_COLOR_TYPE_GRAY})),
            "encoded image: its mask: it has 16 bits per pixel; a mask has at most 8");
  EXPECT_EQ(error_with(write_png(50, 60, classes, gray).substr(0, 40)),
            "encoded image: its mask: the PNG data ends too early");
}

TEST_F(DecodeImageTest, OneReplicaReadsEveryFormatInTurn) {
  const Picture picture = photograph(20, 30);
  const auto stage = open(kWhole);
  const auto read = [&](const std::string& file) {
    const std::string path = folder_.write("a", file);
    return image_of(stage->process({bytes_tensor("path", path)}).value());
  };
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(read(write_png(picture)), picture);
    EXPECT_EQ(read(write_jpeg(picture)).width, 30);
#ifdef BRIGADE_HAS_IMGCODECS
    EXPECT_EQ(read(write_bmp(picture)), picture);
#endif
  }
}

TEST_F(DecodeImageTest, RandomBitsDependOnTheSampleOnly) {
  const std::string file = write_jpeg(photograph(80, 80));
  const ParamTexts params = {{"size", "16"}, {"flip", "0.5"}};
  const Picture first = decode(params, file, {.number = 3, .id = 1});
  EXPECT_EQ(first, decode(params, file, {.number = 70, .id = 1}));
  EXPECT_NE(first, decode(params, file, {.id = 2}));
  EXPECT_NE(first, decode(params, file, {.id = 1, .epoch = 1}));
}

TEST_F(DecodeImageTest, KindsOfJpegFilesAreThosePixels) {
  const Picture picture = photograph(70, 90);
  const Picture gray = photograph(70, 90, 1);
  for (const JpegOptions& options : {JpegOptions{.progressive = true},
                                     {.arithmetic = true},
                                     {.optimize = true},
                                     {.separate_scans = true},
                                     {.restart = 4},
                                     {.horizontal = 1, .vertical = 2},
                                     {.horizontal = 4, .vertical = 1},
                                     {.horizontal = 2, .vertical = 1},
                                     {.horizontal = 1, .vertical = 1}}) {
    const std::string file = write_jpeg(picture, options);
    EXPECT_EQ(decode(kWhole, file), decode_plainly(file).picture);
  }
  const Picture spread = decode(kWhole, write_jpeg(gray));
  EXPECT_EQ(spread, decode_plainly(write_jpeg(gray)).picture);
}

TEST_F(DecodeImageTest, PicturesOfOnePixelAndStripsAreCutAsAnyOther) {
  for (const auto& [height, width] : {std::pair{1, 1}, std::pair{1, 2000}, std::pair{2000, 1},
                                      std::pair{7, 1500}, std::pair{1500, 7}}) {
    const Picture picture = photograph(height, width);
    for (const std::string& file : {write_png(picture), write_jpeg(picture)}) {
      const Picture full = decode(kWhole, file);
      for (std::uint64_t id = 0; id < 6; ++id) {
        DecodeImageParams params;
        params.size = 9;
        const Cut cut =
            choose_cut(params, height, width, Philox(0, stream_id("decode_image"), 0, id));
        const Difference apart =
            difference(decode({{"size", "9"}}, file, {.id = id}), reference(full, cut, true));
        EXPECT_LT(apart.largest, 0.65) << height << " x " << width;
      }
    }
  }
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
  EXPECT_EQ(error_of(file.substr(0, 200)), "the JPEG data ends too early");
  EXPECT_EQ(error_of(write_png(photograph(50, 50)).substr(0, 500)), "the PNG data ends too early");
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
