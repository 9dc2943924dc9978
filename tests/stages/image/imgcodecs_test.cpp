#include "stages/image/imgcodecs.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(ImgcodecsTest, GivesAReaderPerFormat) {
  const std::unique_ptr<ImageReader> webp(brigade_imgcodecs_v2(ImageCodec::webp));
  const std::unique_ptr<ImageReader> tiff(brigade_imgcodecs_v2(ImageCodec::tiff));
  EXPECT_TRUE(webp->open("x").error().message.find("WebP") != std::string::npos);
  EXPECT_TRUE(tiff->open("x").error().message.find("TIFF") != std::string::npos);
}

}  // namespace
}  // namespace brigade
