#include <gtest/gtest.h>

#include "stages/image/image_reader.h"
#include "tests/support/bmp_file.h"
#include "tests/support/pillow_digests.h"

namespace brigade {
namespace {

using namespace testing_support;

std::string little(std::int64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i & 255);
  return out;
}

struct BmpOptions {
  int bits = 24;
  std::vector<std::uint32_t> masks = {};
  bool from_top = false;
  bool core = false;  ///< the header of twelve bytes
};

constexpr std::int64_t kHeight = 19, kWidth = 23;

/// Of any bytes.
std::string write(const BmpOptions& options) {
  const std::int64_t stride = (kWidth * options.bits + 31) / 32 * 4;
  std::string colors;
  for (int i = 0; options.bits <= 8 && i < 1 << options.bits; ++i)
    colors += little(i * 77 % 256, 1) + little(255 - i, 1) + little(i, 1) +
              (options.core ? "" : std::string(1, '\0'));
  for (const std::uint32_t mask : options.masks) colors += little(mask, 4);
  const std::int64_t header = options.core ? 12 : 40;
  const std::int64_t at = 14 + header + static_cast<std::int64_t>(colors.size());
  std::string out = "BM" + little(at + stride * kHeight, 4) + little(0, 4) + little(at, 4);
  out += little(header, 4);
  if (options.core)
    out += little(kWidth, 2) + little(kHeight, 2) + little(1, 2) + little(options.bits, 2);
  else
    out += little(kWidth, 4) + little(options.from_top ? -kHeight : kHeight, 4) + little(1, 2) +
           little(options.bits, 2) + little(options.masks.empty() ? 0 : 3, 4) +
           std::string(20, '\0');
  out += colors;
  for (std::int64_t i = 0; i < stride * kHeight; ++i)
    out += static_cast<char>(mix64(static_cast<std::uint64_t>(i)));
  return out;
}

std::string error_of(const std::string& file) {
  const auto header = make_bmp_reader()->open(file);
  return header ? "no error" : header.error().message;
}

TEST(BmpReaderTest, EveryKindIsWhatPillowReads) {
  const std::map<std::string, BmpOptions> kinds = {
      {"bits_1.bmp", {.bits = 1}},
      {"bits_4.bmp", {.bits = 4}},
      {"bits_8.bmp", {.bits = 8}},
      {"bits_8_core.bmp", {.bits = 8, .core = true}},
      {"bits_16.bmp", {.bits = 16}},
      {"bits_16_masks.bmp", {.bits = 16, .masks = {0xf800, 0x7e0, 0x1f}}},
      {"bits_24.bmp", {.bits = 24}},
      {"bits_24_core.bmp", {.bits = 24, .core = true}},
      {"bits_24_from_top.bmp", {.bits = 24, .from_top = true}},
      {"bits_32.bmp", {.bits = 32}},
      {"bits_32_masks.bmp", {.bits = 32, .masks = {0xff0000, 0xff00, 0xff}}},
      {"bits_32_red_last.bmp", {.bits = 32, .masks = {0xff000000, 0xff0000, 0xff00}}}};
  const std::map<std::string, std::string> pillow = pillow_digests();
  const auto reader = make_bmp_reader();
  for (const auto& [name, options] : kinds) {
    SCOPED_TRACE(name);
    const std::string file = write(options);
    hand_out(name, file);
    const auto header = reader->open(file);
    ASSERT_TRUE(header) << header.error().message;
    const Picture all = picture_of(reader->read({0, 0, kHeight, kWidth}).value());
    const auto expected = pillow.find(name);
    EXPECT_EQ(digest_of(all), expected == pillow.end() ? "none" : expected->second);
    EXPECT_EQ(picture_of(reader->read({3, 5, 7, 11}).value()), part_of(all, 3, 5, 7, 11));
  }
}

TEST(BmpReaderTest, SaysWhatIsWrong) {
  const std::string file = write({});
  EXPECT_EQ(error_of(file.substr(0, file.size() - 1)),
            concat("the BMP data ends too early: ", file.size() - 1,
                   " bytes cannot hold 23 x 19 pixels"));
  EXPECT_EQ(error_of("BM"), "the BMP data cannot be read: its header has 0 bytes");
  std::string other = file;
  other[28] = 2;
  EXPECT_EQ(error_of(other),
            "it is a BMP file of a kind that is not read (2 bits, compression 0); palettes, 16, 24 "
            "and 32 bits that are not compressed are");
  other = file;
  other[18] = 0;
  EXPECT_EQ(error_of(other), "the BMP data cannot be read: it has no rows or no columns");
  EXPECT_EQ(error_of(write({.bits = 32, .masks = {0x3ff00000, 0xffc00, 0x3ff}})),
            "it is a BMP file with masks that are no 1 to 8 bits of each colour");
  std::string many = write({.bits = 4});
  many[46] = 17;
  EXPECT_EQ(error_of(many), "the BMP data cannot be read: its palette has 17 colours");
}

}  // namespace
}  // namespace brigade
