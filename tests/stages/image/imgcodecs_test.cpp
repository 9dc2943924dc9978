#include "stages/image/imgcodecs.h"

#include <gtest/gtest.h>

#include "tests/support/bmp_file.h"

namespace brigade {
namespace {

using namespace testing_support;

std::uint8_t* place(void* context, std::int64_t height, std::int64_t width) {
  auto& picture = *static_cast<Picture*>(context);
  if (width > 100) return nullptr;
  picture = blank(height, width);
  return picture.bytes.data();
}

std::string error_of(const std::string& bytes) {
  char error[64] = "";
  Picture picture;
  return brigade_imgcodecs_v1(bytes.data(), bytes.size(), place, &picture, error, sizeof error)
             ? "no error"
             : error;
}

TEST(ImgcodecsTest, GivesRgb) {
  const Picture in = photograph(5, 7);
  const std::string file = write_bmp(in);
  Picture out;
  char error[64] = "";
  ASSERT_TRUE(brigade_imgcodecs_v1(file.data(), file.size(), place, &out, error, sizeof error))
      << error;
  EXPECT_EQ(out, in);
}

TEST(ImgcodecsTest, SaysWhatIsWrong) {
  EXPECT_EQ(error_of("no image at all"), "it is no image in a format that OpenCV reads");
  EXPECT_EQ(error_of(write_bmp(photograph(2, 101))), "the image is too large");
}

}  // namespace
}  // namespace brigade
