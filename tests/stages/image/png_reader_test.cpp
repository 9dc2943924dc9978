#include <gtest/gtest.h>

#include "stages/image/image_reader.h"
#include "tests/support/test_images.h"

namespace brigade {
namespace {

using namespace testing_support;

class PngReaderTest : public testing::Test {
 protected:
  Picture read(const std::string& file, const Box& box) {
    const auto header = reader_->open(file);
    EXPECT_TRUE(header) << header.error().message;
    const auto pixels = reader_->read(box);
    EXPECT_TRUE(pixels) << pixels.error().message;
    return pixels ? picture_of(*pixels) : Picture{};
  }
  Picture read_all(const std::string& file) {
    const ImageHeader header = reader_->open(file).value();
    return read(file, {0, 0, header.height, header.width});
  }
  std::string error_of(const std::string& file) {
    const auto header = reader_->open(file);
    if (!header) return header.error().message;
    const auto pixels = reader_->read({0, 0, header->height, header->width});
    return pixels ? "no error" : pixels.error().message;
  }

  std::unique_ptr<ImageReader> reader_ = make_png_reader();
};

Picture gray_to_rgb(const Picture& gray) {
  Picture out = blank(gray.height, gray.width);
  for (std::size_t i = 0; i < out.bytes.size(); ++i)
    out.bytes[i] = gray.bytes[i / 3 * static_cast<std::size_t>(gray.channels)];
  return out;
}

TEST_F(PngReaderTest, RgbComesBackAsItWasInterlacedOrNot) {
  const Picture picture = photograph(37, 53);
  for (const bool interlaced : {false, true}) {
    const std::string file = write_png(picture, {.interlaced = interlaced});
    EXPECT_EQ(read_all(file), picture);
    EXPECT_EQ(read(file, {5, 7, 20, 30}), part_of(picture, 5, 7, 20, 30));
    EXPECT_EQ(read(file, {36, 52, 1, 1}), part_of(picture, 36, 52, 1, 1));
  }
}

TEST_F(PngReaderTest, GrayIsSpreadAndAlphaLeftOut) {
  const Picture gray = photograph(10, 12, 1);
  EXPECT_EQ(read_all(write_png(gray, {.color_type = PNG_COLOR_TYPE_GRAY})), gray_to_rgb(gray));
  const Picture with_alpha = photograph(10, 12, 2);
  EXPECT_EQ(read_all(write_png(with_alpha, {.color_type = PNG_COLOR_TYPE_GRAY_ALPHA})),
            gray_to_rgb(with_alpha));
  const Picture rgba = photograph(10, 12, 4);
  Picture rgb = blank(10, 12);
  for (std::size_t i = 0; i < rgb.bytes.size(); ++i) rgb.bytes[i] = rgba.bytes[i / 3 * 4 + i % 3];
  EXPECT_EQ(read_all(write_png(rgba, {.color_type = PNG_COLOR_TYPE_RGB_ALPHA})), rgb);
}

TEST_F(PngReaderTest, FewBitsArePalettesOrGrayLevels) {
  const std::vector<std::uint8_t> rows = {0b00011011, 0b11100100};  // 4 pixels of 2 bits, twice
  const Picture levels = read_all(
      write_png(2, 4, rows, {.bits = 2, .color_type = PNG_COLOR_TYPE_GRAY, .transparent = 1}));
  const Picture colors =
      read_all(write_png(2, 4, rows,
                         {.bits = 2,
                          .color_type = PNG_COLOR_TYPE_PALETTE,
                          .palette = {{1, 2, 3}, {10, 20, 30}, {100, 110, 120}, {255, 254, 253}}}));
  EXPECT_EQ(part_of(levels, 0, 0, 1, 4).bytes,
            (std::vector<std::uint8_t>{0, 0, 0, 85, 85, 85, 170, 170, 170, 255, 255, 255}));
  EXPECT_EQ(part_of(colors, 0, 0, 1, 4).bytes,
            (std::vector<std::uint8_t>{1, 2, 3, 10, 20, 30, 100, 110, 120, 255, 254, 253}));
}

TEST_F(PngReaderTest, SixteenBitsAreRoundedToEight) {
  const std::vector<std::uint8_t> rows = {0x12, 0x34, 0x00, 0x00, 0xff, 0xff,
                                          0x80, 0xff, 0x7f, 0x00, 0x01, 0x00};
  EXPECT_EQ(read_all(write_png(1, 2, rows, {.bits = 16})).bytes,
            (std::vector<std::uint8_t>{0x12, 0, 255, 0x80, 0x7f, 1}));
}

TEST_F(PngReaderTest, TheHeaderSaysSizeAndOrientation) {
  const ImageHeader header = reader_->open(write_png(photograph(4, 9), {.orientation = 8})).value();
  EXPECT_EQ(header.height, 4);
  EXPECT_EQ(header.width, 9);
  EXPECT_EQ(header.orientation, 8);
}

TEST_F(PngReaderTest, SaysWhatIsWrongAndReadsTheNextFile) {
  const std::string file = write_png(photograph(50, 50));
  for (const std::size_t size : {std::size_t{8}, std::size_t{20}, file.size() / 2})
    EXPECT_EQ(error_of(file.substr(0, size)), "the PNG data ends too early") << size;
  std::string damaged = file;
  damaged[file.size() / 2] = static_cast<char>(damaged[file.size() / 2] ^ 1);
  EXPECT_TRUE(error_of(damaged).starts_with("the PNG data cannot be read: ")) << error_of(damaged);
  EXPECT_EQ(error_of(file), "no error");
}

TEST_F(PngReaderTest, AnyCutOrChangedByteIsAnErrorOrAPicture) {
  const std::string file = write_png(photograph(13, 17), {.interlaced = true, .orientation = 2});
  for (std::size_t i = 0; i < file.size(); ++i) {
    std::string changed = file;
    changed[i] = static_cast<char>(changed[i] ^ 0x55);
    const auto header = reader_->open(changed);
    if (header && header->height * header->width < 1 << 20)
      (void)reader_->read({0, 0, header->height, header->width}).ok();
    (void)reader_->open(file.substr(0, i)).ok();
  }
  EXPECT_EQ(error_of(file), "no error");
}

}  // namespace
}  // namespace brigade
