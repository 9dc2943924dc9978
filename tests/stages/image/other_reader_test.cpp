#include <gtest/gtest.h>

#include "stages/image/exif.h"
#include "stages/image/image_reader.h"
#include "tests/support/bmp_file.h"
#include "tests/support/pillow_digests.h"

namespace brigade {
namespace {

using namespace testing_support;

std::string error_of(const std::string& file) {
  const auto header = make_other_reader()->open(file);
  return header ? "no error" : header.error().message;
}

TEST(OtherReaderTest, KnowsWhoReadsWhat) {
  EXPECT_TRUE(is_jpeg(write_jpeg(photograph(8, 8))));
  EXPECT_TRUE(is_png(write_png(photograph(8, 8))));
  const std::string bmp = write_bmp(photograph(8, 8));
  EXPECT_FALSE(is_jpeg(bmp) || is_png(bmp) || is_jpeg("") || is_png(""));
}

TEST(OtherReaderTest, OneReaderReadsEveryFormatInTurn) {
  const auto reader = make_other_reader();
  const Picture picture = photograph(20, 30);
  const std::string pnm =
      "P6 30 20 255\n" + std::string(picture.bytes.begin(), picture.bytes.end());
  for (const std::string& file : {write_bmp(picture), pnm, write_bmp(picture)}) {
    ASSERT_TRUE(reader->open(file));
    EXPECT_EQ(picture_of(reader->read({2, 1, 5, 3}).value()), part_of(picture, 2, 1, 5, 3));
    reader->give_back();
  }
}

TEST(OtherReaderTest, SaysWhatIsNotRead) {
  const std::string begin = "it is no JPEG, PNG, WebP, TIFF, BMP or PNM file: ";
  EXPECT_EQ(error_of("hello"), begin + "it begins with 68 65 6c 6c 6f");
  EXPECT_EQ(error_of("GIF89a..."), begin + "it is a GIF file");
  EXPECT_EQ(error_of("Pf\n2 2\n-1\n"), begin + "it is a PFM file");
  EXPECT_EQ(error_of("P7\nWIDTH 1\n"), begin + "it is a PAM file");
  EXPECT_EQ(error_of(std::string("\0\0\0\x0cjP  \r\n", 10)), begin + "it is a JPEG 2000 file");
  EXPECT_EQ(error_of(std::string("\0\0\0\x1c"
                                 "ftypavif",
                                 12)),
            begin + "it is a HEIF, AVIF or video file");
}

#ifdef BRIGADE_HAS_IMGCODECS

// Pillow wrote these files, and has read them.
TEST(OtherReaderTest, FilesOfEveryFormatAreWhatPillowReads) {
  const auto reader = make_other_reader();
  int files = 0;
  for (const auto& [name, digest] : pillow_digests()) {
    std::ifstream in(concat(BRIGADE_SOURCE_DIR, "/tests/golden/images/", name), std::ios::binary);
    if (!in || name.ends_with(".png")) continue;
    SCOPED_TRACE(name);
    ++files;
    const std::string file{std::istreambuf_iterator<char>(in), {}};
    const auto header = reader->open(file);
    ASSERT_TRUE(header) << header.error().message;
    const auto pixels = reader->read({0, 0, header->height, header->width});
    ASSERT_TRUE(pixels) << pixels.error().message;
    const Picture all = picture_of(*pixels);
    PictureBytes memory;
    EXPECT_EQ(digest_of(picture_of(turn_upright(*pixels, header->orientation, memory))), digest);
    ASSERT_TRUE(reader->open(file));
    EXPECT_EQ(picture_of(reader->read({7, 5, 11, 13}).value()), part_of(all, 7, 5, 11, 13));
  }
  EXPECT_EQ(files, 23);
}

#else

TEST(OtherReaderTest, SaysThatTheModuleIsMissing) {
  const std::string error = error_of(std::string("II*\0", 4));
  EXPECT_TRUE(error.starts_with("the module that reads WebP and TIFF ")) << error;
}

#endif

}  // namespace
}  // namespace brigade
