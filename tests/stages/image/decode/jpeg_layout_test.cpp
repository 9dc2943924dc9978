#include "stages/image/decode/jpeg_layout.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(JpegLayout, IsThatOfThisLibrary) { EXPECT_TRUE(jpeg_layout_fits()); }

TEST(JpegLayout, AnotherPlaceIsNotTaken) {
  EXPECT_TRUE(try_jpeg_layout(kDecodeMcuAt));
  for (const std::size_t other : {0, 2, 3}) EXPECT_FALSE(try_jpeg_layout(other)) << other;
}

}  // namespace
}  // namespace brigade
