#include "stages/image/decode/exif.h"

#include <gtest/gtest.h>

#include "tests/support/images/test_images.h"

namespace brigade {
namespace {

using namespace testing_support;

/// Where the standard puts the stored pixel (y, x) of a picture of h x w: its columns are mirrored
/// by 2 and 3, its rows by 3 and 4; rows become columns from 5 on.
std::pair<std::int64_t, std::int64_t> upright_place(int orientation, std::int64_t y, std::int64_t x,
                                                    std::int64_t h, std::int64_t w) {
  const std::int64_t up = h - 1 - y, left = w - 1 - x;
  const std::pair<std::int64_t, std::int64_t> places[] = {{y, x}, {y, left}, {up, left}, {up, x},
                                                          {x, y}, {x, up},   {left, up}, {left, y}};
  return places[orientation - 1];
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

TEST(ExifTest, ReadsNumbersOfAnyWidthInBothByteOrders) {
  const std::string big{"MM\0\x2a\0\0\0\x08\0\x01\x01\x12", 12};
  const std::string little{"II\x2a\0\x08\0\0\0\x01\0\x12\x01", 12};
  for (const auto& [begin, type_and_number, orientation] :
       {std::tuple{big, std::string("\0\x03\0\0\0\x01\0\x08\0\0", 10), 8},
        {big, std::string("\0\x04\0\0\0\x01\0\0\0\x06", 10), 6},
        {big, std::string("\0\x04\0\0\0\x01\0\x06\0\0", 10), 1},
        {big, std::string("\0\x01\0\0\0\x01\x05\0\0\0", 10), 5},
        {little, std::string("\x03\0\x01\0\0\0\x06\0\0\0", 10), 6},
        {little, std::string("\x04\0\x01\0\0\0\x06\0\0\0", 10), 6}})
    EXPECT_EQ(tiff_orientation(begin + type_and_number), orientation);
  EXPECT_EQ(tiff_orientation(exif_segment(7)), 7) << "what begins with Exif";
}

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
