#include "stages/image/decode/exif.h"

#include <gtest/gtest.h>

#include "tests/support/images/test_images.h"

namespace brigade {
namespace {

using namespace testing_support;

/// Where the standard puts the stored pixel (y, x) of a picture of h x w.
std::pair<std::int64_t, std::int64_t> upright_place(int orientation, std::int64_t y, std::int64_t x,
                                                    std::int64_t h, std::int64_t w) {
  switch (orientation) {
    case 2:  // mirrored
      return {y, w - 1 - x};
    case 3:  // turned by half
      return {h - 1 - y, w - 1 - x};
    case 4:  // upside down
      return {h - 1 - y, x};
    case 5:  // row 0 is the left side, column 0 the top
      return {x, y};
    case 6:  // row 0 is the right side, column 0 the top
      return {x, h - 1 - y};
    case 7:  // row 0 is the right side, column 0 the bottom
      return {w - 1 - x, h - 1 - y};
    case 8:  // row 0 is the left side, column 0 the bottom
      return {w - 1 - x, y};
    default:
      return {y, x};
  }
}

Picture turned(const Picture& in, int orientation) {
  PictureBytes memory;
  return picture_of(turn_upright(in.pixels(), orientation, memory));
}

TEST(ExifTest, TurnsAsTheStandardSays) {
  const Picture in = photograph(3, 5);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Picture out = turned(in, orientation);
    EXPECT_EQ(out.height, swaps_sides(orientation) ? 5 : 3);
    for (std::int64_t y = 0; y < 3; ++y)
      for (std::int64_t x = 0; x < 5; ++x) {
        const auto [row, column] = upright_place(orientation, y, x, 3, 5);
        for (std::int64_t c = 0; c < 3; ++c)
          EXPECT_EQ(out.at(row, column, c), in.at(y, x, c)) << orientation;
      }
  }
}

TEST(ExifTest, ABoxOfTheUprightPictureIsABoxOfTheStoredOne) {
  const Picture in = photograph(30, 50);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Box upright{4, 7, 20, 11};
    const Box stored = stored_box(upright, orientation, 30, 50);
    const Picture part = part_of(in, stored.y, stored.x, stored.height, stored.width);
    EXPECT_EQ(turned(part, orientation), part_of(turned(in, orientation), 4, 7, 20, 11))
        << orientation;
  }
}

TEST(ExifTest, ReadsBothByteOrders) {
  const std::string little = exif_segment(6).substr(6);
  EXPECT_EQ(tiff_orientation(little), 6);
  const std::string big{"MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x08\0\0", 22};
  EXPECT_EQ(tiff_orientation(big), 8);
}

TEST(ExifTest, ReadsNumbersOfAnyWidth) {
  const std::string big{"MM\0\x2a\0\0\0\x08\0\x01\x01\x12", 12};
  EXPECT_EQ(tiff_orientation(big + std::string("\0\x04\0\0\0\x01\0\0\0\x06", 10)), 6);
  EXPECT_EQ(tiff_orientation(big + std::string("\0\x04\0\0\0\x01\0\x06\0\0", 10)), 1);
  EXPECT_EQ(tiff_orientation(big + std::string("\0\x01\0\0\0\x01\x05\0\0\0", 10)), 5);
  const std::string little{"II\x2a\0\x08\0\0\0\x01\0\x12\x01", 12};
  EXPECT_EQ(tiff_orientation(little + std::string("\x04\0\x01\0\0\0\x06\0\0\0", 10)), 6);
}

TEST(ExifTest, ReadsWhatBeginsWithExif) { EXPECT_EQ(tiff_orientation(exif_segment(7)), 7); }

TEST(ExifTest, FindsTheChunkOfAPngFileBeforeAndBehindThePixels) {
  const std::string without = write_png(photograph(8, 8));
  EXPECT_EQ(png_orientation(without), 1);
  const std::string written = write_png(photograph(8, 8), {.orientation = 5});
  const std::string chunk = written.substr(written.find("eXIf") - 4, 12 + 26);
  const std::size_t pixels = without.find("IDAT") - 4, end = without.size() - 12;
  for (const std::size_t at : {pixels, end}) {
    std::string file = without;
    file.insert(at, chunk);
    for (std::size_t size = 0; size <= file.size(); ++size)  // must not read beyond the end
      EXPECT_EQ(png_orientation(std::string_view(file).substr(0, size)),
                size < at + chunk.size() ? 1 : 5);
    file[at + 8 + 22] = 'x';  // behind the directory: only the sum tells
    EXPECT_EQ(png_orientation(file), 1);
  }
}

TEST(ExifTest, NonsenseIsUpright) {
  const std::string good = exif_segment(6).substr(6);
  for (std::size_t size = 0; size < 19; ++size)
    EXPECT_EQ(tiff_orientation(std::string_view(good).substr(0, size)), 1) << size;
  EXPECT_EQ(tiff_orientation(exif_segment(0).substr(6)), 1);
  EXPECT_EQ(tiff_orientation(exif_segment(9).substr(6)), 1);
  std::string far = good;
  far[4] = far[5] = far[6] = '\x7f';  // the directory lies beyond the end
  EXPECT_EQ(tiff_orientation(far), 1);
  EXPECT_EQ(tiff_orientation("IIxx"), 1);
}

TEST(ExifTest, FindsTheSegmentOfAJpegFile) {
  const Picture in = photograph(8, 8);
  EXPECT_EQ(jpeg_orientation(write_jpeg(in)), 1);
  const std::string file = write_jpeg(in, {.orientation = 5});
  EXPECT_EQ(jpeg_orientation(file), 5);
  for (std::size_t size = 0; size < 100; ++size)  // must not read beyond the end
    EXPECT_LE(jpeg_orientation(std::string_view(file).substr(0, size)), 5);
  EXPECT_EQ(jpeg_orientation(std::string_view("\xff\xd8\xff\xe1\0\0", 6)), 1);
}

}  // namespace
}  // namespace brigade
