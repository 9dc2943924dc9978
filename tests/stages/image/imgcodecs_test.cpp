#include "stages/image/imgcodecs.h"

#include <gtest/gtest.h>

#include <iostream>

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

// OpenCV would write it to standard error, with the paths of its sources.
TEST(ImgcodecsTest, WhatOpenCvSaysIsTheErrorInOneLine) {
  const std::string whole = write_bmp(photograph(20, 30));
  testing::internal::CaptureStderr();
  for (const std::string& bytes :
       {whole.substr(0, whole.size() / 2), std::string("P6\n70000 70000\n255\n")}) {
    const std::string error = error_of(bytes);
    EXPECT_FALSE(error.empty() || error == "no error");
    EXPECT_EQ(error.find(".cpp"), std::string::npos) << error;
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  std::cerr << "said by somebody else\n";
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "said by somebody else\n");
}

}  // namespace
}  // namespace brigade
