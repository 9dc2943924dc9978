#include "stages/image/decode/exif.h"
#include "tests/support/images/bmp_file.h"
#include "tests/support/images/pillow_digests.h"
#include "tests/support/images/reader_test.h"

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

class BmpReaderTest : public ReaderTest {
 protected:
  BmpReaderTest() : ReaderTest(make_bmp_reader()) {}
};

TEST_F(BmpReaderTest, EveryKindIsWhatPillowReads) {
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
  for (const auto& [name, options] : kinds) {
    SCOPED_TRACE(name);
    const std::string file = write(options);
    hand_out(name, file);
    const Picture all = read_all(file);
    const auto expected = pillow.find(name);
    EXPECT_EQ(digest_of(all), expected == pillow.end() ? "none" : expected->second);
    EXPECT_EQ(read(file, {3, 5, 7, 11}), part_of(all, 3, 5, 7, 11));
  }
}

TEST_F(BmpReaderTest, SaysWhatIsWrong) {
  const std::string file = write({});
  EXPECT_EQ(error_of(file.substr(0, file.size() - 1)),
            concat("the BMP data ends too early: ", file.size() - 1,
                   " bytes cannot hold 23 x 19 pixels"));
  EXPECT_EQ(error_of("BM"), "the BMP data cannot be read: its header has 0 bytes");
  std::string other = file;
  other[28] = 2;
  EXPECT_EQ(error_of(other),
            "it is a BMP file of an unsupported kind (2 bits, compression 0); expected a palette "
            "or uncompressed 16, 24 or 32 bits per pixel; convert the file to PNG");
  other = file;
  other[18] = 0;
  EXPECT_EQ(error_of(other), "the BMP data cannot be read: it has no rows or no columns");
  EXPECT_EQ(error_of(write({.bits = 32, .masks = {0x3ff00000, 0xffc00, 0x3ff}})),
            "it is a BMP file of an unsupported kind: each color mask must have 1 to 8 bits; "
            "convert the file to PNG");
  std::string many = write({.bits = 4});
  many[46] = 17;
  EXPECT_EQ(error_of(many), "the BMP data cannot be read: its palette has 17 colors");
  for (const BmpOptions& options : {BmpOptions{}, {.bits = 8}}) {
    std::string early = write(options);
    early[10] = options.bits == 8 ? 54 : 53;
    early[11] = 0;
    EXPECT_EQ(error_of(early),
              "the BMP data cannot be read: its pixel data overlaps its header or palette");
  }
}

using namespace testing_support;

class PnmReaderTest : public ReaderTest {
 protected:
  PnmReaderTest() : ReaderTest(make_pnm_reader()) {}

  /// Gray levels of one row.
  std::vector<std::uint8_t> levels(const std::string& file) {
    const Picture picture = read_all(file);
    std::vector<std::uint8_t> out;
    for (std::int64_t x = 0; x < picture.width; ++x) out.push_back(picture.at(0, x, 1));
    return out;
  }
};

using Levels = std::vector<std::uint8_t>;

TEST_F(PnmReaderTest, TextsBytesAndBitsOfAnyWhite) {
  EXPECT_EQ(levels("P1\n# bits, 1 is black\n4 1\n1 0\n01"), (Levels{0, 255, 255, 0}));
  EXPECT_EQ(levels("P2 3 1 100 0 50\n#\n100"), (Levels{0, 128, 255}));
  EXPECT_EQ(levels("P4 10 1\n\x0f\x40"), (Levels{255, 255, 255, 255, 0, 0, 0, 0, 255, 0}));
  EXPECT_EQ(levels(std::string("P5 2 1 65535\n\x80\xff\x12\x34", 17)), (Levels{0x80, 0x12}));
  EXPECT_EQ(read_all("P3 1 1 15 15 0 3").bytes, (Levels{255, 0, 51}));
}

TEST_F(PnmReaderTest, LevelsAreThoseOfPillow) {
  const std::map<std::string, std::string> pillow = pillow_digests();
  for (const int white : {1, 15, 100, 254, 255}) {
    std::string file = concat("P6\n", 17, " ", 20, "\n", white, "\n");
    for (int i = 0; i < 17 * 20 * 3; ++i) file += static_cast<char>(i % (white + 1));
    const std::string name = concat("white_", white, ".ppm");
    hand_out(name, file);
    const auto expected = pillow.find(name);
    EXPECT_EQ(digest_of(read_all(file)), expected == pillow.end() ? "none" : expected->second)
        << name;
  }
}

TEST_F(PnmReaderTest, ABoxIsThatPartOfIt) {
  for (const std::string& file : {std::string("P5 4 3 255\nabcdefghijkl"),
                                  std::string("P2 4 3 99 1 2 3 4 5 6 7 8 9 10 11 12")})
    EXPECT_EQ(read(file, {1, 2, 2, 1}), part_of(read_all(file), 1, 2, 2, 1));
}

TEST_F(PnmReaderTest, SaysWhatIsWrong) {
  EXPECT_EQ(error_of("P5 4"), "the PNM data ends too early");
  EXPECT_EQ(error_of("P5 4 3 255\nabc"),
            "the PNM data ends too early: 14 bytes cannot hold 4 x 3 pixels");
  EXPECT_EQ(error_of("P2 2 1 9 1  "), "the PNM data ends too early");
  EXPECT_EQ(error_of("P5 0 3 255\nabc"), "the PNM data cannot be read: a size in its header is 0");
  EXPECT_EQ(error_of("P5 1 1 70000\nabc"),
            "the PNM data cannot be read: its largest level is 70000");
  EXPECT_EQ(error_of("P5 1 1 9\na"),
            "the PNM data cannot be read: a level is 97, expected at most 9");
  EXPECT_EQ(error_of("P5 x"), "the PNM data cannot be read: expected a number");
  EXPECT_EQ(error_of("P5 99999999999 1 1\n"), "the PNM data cannot be read: a number is too large");
  EXPECT_EQ(error_of("P1 2 1 12"), "the PNM data cannot be read: expected 0 or 1");
}

using namespace testing_support;

class OtherReaderTest : public ReaderTest {
 protected:
  OtherReaderTest() : ReaderTest(make_other_reader()) {}
};

TEST_F(OtherReaderTest, KnowsWhoReadsWhat) {
  EXPECT_TRUE(is_jpeg(write_jpeg(photograph(8, 8))));
  EXPECT_TRUE(is_png(write_png(photograph(8, 8))));
  const std::string bmp = write_bmp(photograph(8, 8));
  EXPECT_FALSE(is_jpeg(bmp) || is_png(bmp) || is_jpeg("") || is_png(""));
}

TEST_F(OtherReaderTest, OneReaderReadsEveryFormatInTurn) {
  const Picture picture = photograph(20, 30);
  const std::string pnm =
      "P6 30 20 255\n" + std::string(picture.bytes.begin(), picture.bytes.end());
  for (const std::string& file : {write_bmp(picture), pnm, write_bmp(picture)}) {
    EXPECT_EQ(read(file, {2, 1, 5, 3}), part_of(picture, 2, 1, 5, 3));
    reader_->give_back();
  }
}

TEST_F(OtherReaderTest, SaysWhatIsNotRead) {
  const std::string begin = "not a JPEG, PNG, WebP, TIFF, BMP or PNM file: ";
  EXPECT_EQ(error_of("hello"), begin + "it begins with 68 65 6c 6c 6f");
  EXPECT_EQ(error_of("hel"), begin + "it begins with 68 65 6c");
  EXPECT_EQ(error_of("RIFF\1"), begin + "it begins with 52 49 46 46 01");
  EXPECT_EQ(error_of("GIF89a..."), begin + "it is a GIF file");
  EXPECT_EQ(error_of("Pf\n2 2\n-1\n"), begin + "it is a PFM file");
  EXPECT_EQ(error_of("P7\nWIDTH 1\n"), begin + "it is a PAM file");
  EXPECT_EQ(error_of(std::string("\0\0\0\x1c"
                                 "ftypheic",
                                 12)),
            begin + "it is a HEIF or video file");
}

#ifdef BRIGADE_HAS_IMGCODECS

// Pillow wrote these files, and has read them.
TEST_F(OtherReaderTest, FilesOfEveryFormatAreWhatPillowReads) {
  int files = 0;
  for (const auto& [name, digest] : pillow_digests()) {
    std::ifstream in(concat(BRIGADE_SOURCE_DIR, "/tests/golden/images/", name), std::ios::binary);
    if (!in || name.ends_with(".png")) continue;
    SCOPED_TRACE(name);
    ++files;
    const std::string file{std::istreambuf_iterator<char>(in), {}};
    const auto header = reader_->open(file);
    ASSERT_TRUE(header) << header.error().message;
    const auto pixels = reader_->read({0, 0, header->height, header->width});
    ASSERT_TRUE(pixels) << pixels.error().message;
    const Picture all = picture_of(*pixels);
    PictureBytes memory;
    EXPECT_EQ(digest_of(picture_of(turn_upright(*pixels, header->orientation, memory))), digest);
    EXPECT_EQ(read(file, {7, 5, 11, 13}), part_of(all, 7, 5, 11, 13));
  }
  EXPECT_EQ(files, 23);
}

#else

TEST_F(OtherReaderTest, SaysThatTheModuleIsMissing) {
  const std::string error = error_of(std::string("II*\0", 4));
  EXPECT_TRUE(error.starts_with("cannot open the module that reads WebP and TIFF ")) << error;
}

#endif

}  // namespace
}  // namespace brigade
