#include "stages/image/decode/tiff_layout.h"

#include <gtest/gtest.h>

#include "tests/support/message_of.h"

namespace brigade {
namespace {

TiffLayout gray() {
  TiffLayout layout;
  layout.bits = 8;
  layout.photometric = PHOTOMETRIC_MINISBLACK;
  layout.compression = COMPRESSION_NONE;
  return layout;
}

TEST(TiffLayoutTest, FloatsAreRefusedByName) {
  EXPECT_TRUE(check_kind(gray(), true));
  TiffLayout floats = gray();
  floats.bits = 32;
  floats.format = SAMPLEFORMAT_IEEEFP;
  EXPECT_EQ(message_of(check_kind(floats, true)),
            "it is a TIFF file of an unsupported kind (photometric 1, 1 x 32 bits, format 3 "
            "(floating-point samples)); expected gray, RGB or a palette with 1 to 16 bits");
}

TEST(TiffLayoutTest, ACompressionThatThisLibtiffLacksIsRefusedByName) {
  TiffLayout layout = gray();
  layout.compression = COMPRESSION_ZSTD;
  EXPECT_TRUE(check_kind(layout, true));
  EXPECT_EQ(message_of(check_kind(layout, false)),
            "it is a TIFF file with the compression 50000 (zstd), which this build of libtiff does "
            "not support; convert the file, or use a libtiff that supports it");
}

TEST(TiffLayoutTest, ACompressionThatIsNotReadIsRefusedByNameWithTheOnesThatAre) {
  TiffLayout layout = gray();
  layout.compression = COMPRESSION_WEBP;
  EXPECT_EQ(message_of(check_kind(layout, true)),
            "it is a TIFF file with the unsupported compression 50001 (WebP); expected none, LZW, "
            "deflate, PackBits, zstd, LZMA, JPEG or fax; convert the file");
}

}  // namespace
}  // namespace brigade
