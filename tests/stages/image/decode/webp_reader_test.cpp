// Pixels are compared with Pillow's in OtherReaderTest.

#include "stages/image/decode/imgcodecs.h"

#include <gtest/gtest.h>

#include <fstream>

#include "stages/image/decode/exif.h"
#include "tests/support/images/reader_test.h"

namespace brigade {
namespace {

using namespace testing_support;

std::string golden(const std::string& name) {
  std::ifstream in(BRIGADE_SOURCE_DIR "/tests/golden/images/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class WebpReaderTest : public ReaderTest {
 protected:
  WebpReaderTest() : ReaderTest(make_webp_reader()) {}
};

TEST_F(WebpReaderTest, TheHeaderSaysSizeAndOrientation) {
  const ImageHeader header = reader_->open(golden("lossy.webp")).value();
  EXPECT_EQ(header.height, 30);
  EXPECT_EQ(header.width, 40);
  EXPECT_EQ(header.orientation, 6);
  const std::string file = golden("lossy.webp");
  for (std::size_t size = 0; size < file.size(); ++size)  // must not read beyond the end
    EXPECT_LE(webp_orientation(std::string_view(file).substr(0, size)), 6);
}

TEST_F(WebpReaderTest, AllChannelsAreColorsAndAlphaWhereItHasSome) {
  EXPECT_EQ(read_all(golden("lossless.webp"), Channels::stored), read_all(golden("lossless.webp")));
  const Picture all = read_all(golden("alpha_lossless.webp"), Channels::stored);
  const Picture rgb = read_all(golden("alpha_lossless.webp"));
  ASSERT_EQ(all.channels, 4);
  for (std::int64_t c = 0; c < 3; ++c) EXPECT_EQ(channel_of(all, c), channel_of(rgb, c));
  EXPECT_NE(channel_of(all, 3), channel_of(all, 0));
}

TEST_F(WebpReaderTest, SaysThatDataEndsEarlyOrAreDamaged) {
  for (const std::string name : {"lossy.webp", "lossless.webp"}) {
    const std::string file = golden(name);
    EXPECT_EQ(error_of(file.substr(0, file.size() / 2)), "the WebP data ends too early") << name;
    EXPECT_EQ(error_of(file.substr(0, 14)), "the WebP data ends too early") << name;
    EXPECT_EQ(error_of(file), "no error");
  }
  std::string damaged = golden("lossless.webp");
  damaged[damaged.find("VP8L") + 8] = 'x';
  EXPECT_EQ(error_of(damaged), "the WebP data cannot be read: its compressed data is damaged");
}

TEST_F(WebpReaderTest, AnimationsAreRefused) {
  std::string file = golden("lossy.webp");
  file[20] = static_cast<char>(file[20] | 2);  // of VP8X
  EXPECT_EQ(error_of(file), "it is an animated WebP file; expected a single image");
}

TEST(ImgcodecsTest, GivesAReaderPerFormat) {
  const std::unique_ptr<ImageReader> webp(brigade_imgcodecs_v3(ImageCodec::webp));
  const std::unique_ptr<ImageReader> tiff(brigade_imgcodecs_v3(ImageCodec::tiff));
  EXPECT_TRUE(webp->open("x").error().message.find("WebP") != std::string::npos);
  EXPECT_TRUE(tiff->open("x").error().message.find("TIFF") != std::string::npos);
}

}  // namespace
}  // namespace brigade
