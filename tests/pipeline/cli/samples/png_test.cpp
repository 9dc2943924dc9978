#include "pipeline/cli/samples/png.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <vector>

namespace brigade {
namespace {

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

// Takes a picture apart as the specification says, checksums included.
struct Read {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  int color_type = -1;
  std::string rows;  // each with its filter byte

  explicit Read(const std::string& png) {
    EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
    for (std::size_t at = 8; at < png.size();) {
      const std::uint32_t length = number_at(png, at);
      const std::string type = png.substr(at + 4, 4);
      const std::string data = png.substr(at + 8, length);
      const std::string body = type + data;
      EXPECT_EQ(
          number_at(png, at + 8 + length),
          crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size())));
      take(type, data);
      at += 12 + length;
    }
  }

 private:
  void take(const std::string& type, const std::string& data) {
    if (type == "IHDR") {
      width = number_at(data, 0);
      height = number_at(data, 4);
      EXPECT_EQ(data[8], 8);
      color_type = data[9];
    } else if (type == "IDAT") {
      rows.resize(1 << 16);
      uLongf size = rows.size();
      EXPECT_EQ(
          uncompress(reinterpret_cast<Bytef*>(rows.data()), &size,
                     reinterpret_cast<const Bytef*>(data.data()), static_cast<uLong>(data.size())),
          Z_OK);
      rows.resize(size);
    } else {
      EXPECT_EQ(type, "IEND");
    }
  }
};

TEST(Png, HoldsThePixelsRowByRow) {
  const std::vector<std::uint8_t> pixels = {1, 2, 3, 4, 5, 6};
  const Read picture(encode_png(pixels, 2, 3, 1));
  EXPECT_EQ(picture.width, 3u);
  EXPECT_EQ(picture.height, 2u);
  EXPECT_EQ(picture.color_type, 0);
  EXPECT_EQ(picture.rows, std::string("\0\1\2\3\0\4\5\6", 8));
}

TEST(Png, KnowsTheFourKindsOfPixels) {
  const std::vector<std::uint8_t> pixels(24, 7);
  EXPECT_EQ(Read(encode_png(pixels, 3, 4, 2)).color_type, 4);
  EXPECT_EQ(Read(encode_png(pixels, 2, 4, 3)).color_type, 2);
  EXPECT_EQ(Read(encode_png(pixels, 2, 3, 4)).color_type, 6);
}

}  // namespace
}  // namespace brigade
