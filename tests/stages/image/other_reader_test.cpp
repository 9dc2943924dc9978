#include <gtest/gtest.h>

#include "stages/image/image_reader.h"
#include "tests/support/bmp_file.h"

namespace brigade {
namespace {

using namespace testing_support;

TEST(OtherReaderTest, KnowsWhoReadsWhat) {
  EXPECT_TRUE(is_jpeg(write_jpeg(photograph(8, 8))));
  EXPECT_TRUE(is_png(write_png(photograph(8, 8))));
  const std::string bmp = write_bmp(photograph(8, 8));
  EXPECT_FALSE(is_jpeg(bmp) || is_png(bmp) || is_jpeg("") || is_png(""));
}

#ifdef BRIGADE_HAS_IMGCODECS

TEST(OtherReaderTest, ReadsOtherFormatsThroughTheModule) {
  const auto reader = make_other_reader();
  for (const Picture& picture : {photograph(9, 5), photograph(20, 30)}) {
    const std::string file = write_bmp(picture);
    const ImageHeader header = reader->open(file).value();
    EXPECT_EQ(header.height, picture.height);
    EXPECT_EQ(header.width, picture.width);
    EXPECT_EQ(picture_of(reader->read({2, 1, 5, 3}).value()), part_of(picture, 2, 1, 5, 3));
  }
}

TEST(OtherReaderTest, SaysWhatIsNoImage) {
  EXPECT_EQ(make_other_reader()->open("hello").error().message,
            "neither JPEG nor PNG, and it is no image in a format that OpenCV reads");
}

#else

TEST(OtherReaderTest, SaysThatTheModuleIsMissing) {
  const std::string error = make_other_reader()->open("hello").error().message;
  EXPECT_TRUE(error.starts_with("neither JPEG nor PNG, and the module that reads other formats"))
      << error;
}

#endif

}  // namespace
}  // namespace brigade
