// Every kind of PNG file: each colour type with each depth, with and without tRNS, interlaced or
// not, written by libpng. Their pixels are known, and Pillow has read them, too.

#include "tests/support/images/reader_test.h"

namespace brigade {
namespace {

using namespace testing_support;

struct Kind {
  int color_type = 0;
  int bits = 8;
  bool transparent = false;
  bool interlaced = false;
  std::int64_t height = 0, width = 0;

  bool palette() const { return color_type == PNG_COLOR_TYPE_PALETTE; }
  bool gray() const { return (color_type & PNG_COLOR_MASK_COLOR) == 0; }
  bool alpha() const { return (color_type & PNG_COLOR_MASK_ALPHA) != 0; }
  /// Numbers per pixel.
  std::int64_t samples() const { return (gray() || palette() ? 1 : 3) + alpha(); }

  std::string name() const {
    const char* const colors = palette() ? "palette" : gray() ? "gray" : "rgb";
    return concat(colors, alpha() ? "_alpha" : "", "_", bits, transparent ? "_trns" : "",
                  interlaced ? "_interlaced" : "", "_", width, "x", height, ".png");
  }
};

png_color palette_color(std::size_t i) {
  return {static_cast<png_byte>(i * 7), static_cast<png_byte>(255 - i), static_cast<png_byte>(i)};
}

/// A number of a pixel. Of 16 bits both bytes are equal, so that all ways to get to 8 give the same
/// (PngReaderTest has the others).
int sample(const Kind& kind, std::int64_t y, std::int64_t x, std::int64_t i) {
  const auto value = mix64(static_cast<std::uint64_t>((y * kind.width + x) * 4 + i));
  if (kind.bits == 16) return static_cast<int>(value % 256 * 257);
  return static_cast<int>(value % (1U << kind.bits));
}

std::string write(const Kind& kind) {
  const auto row_bits = static_cast<std::size_t>(kind.width * kind.samples() * kind.bits);
  const std::size_t stride = (row_bits + 7) / 8;
  std::vector<std::uint8_t> rows(stride * static_cast<std::size_t>(kind.height));
  for (std::int64_t y = 0; y < kind.height; ++y) {
    std::size_t bit = static_cast<std::size_t>(y) * stride * 8;
    for (std::int64_t x = 0; x < kind.width; ++x)
      for (std::int64_t i = 0; i < kind.samples();
           ++i, bit += static_cast<std::size_t>(kind.bits)) {
        const int value = sample(kind, y, x, i);
        if (kind.bits == 16) rows[bit / 8] = rows[bit / 8 + 1] = static_cast<std::uint8_t>(value);
        if (kind.bits <= 8)
          rows[bit / 8] = static_cast<std::uint8_t>(
              rows[bit / 8] | value << (8 - static_cast<int>(bit % 8) - kind.bits));
      }
  }
  PngOptions options{
      .bits = kind.bits, .color_type = kind.color_type, .interlaced = kind.interlaced};
  if (kind.palette())
    for (std::size_t i = 0; i < std::size_t{1} << kind.bits; ++i)
      options.palette.push_back(palette_color(i));
  if (kind.transparent && kind.palette()) options.alphas = {0, 100};
  if (kind.transparent && !kind.palette()) options.transparent = sample(kind, 0, 0, 0);
  return write_png(kind.height, kind.width, rows, options);
}

/// COLORS[_alpha]_BITS[_trns], as in its name.
Kind kind_of(std::string_view text) {
  const auto has = [text](const char* word) { return text.find(word) != text.npos; };
  return {.color_type = (has("palette") ? PNG_COLOR_TYPE_PALETTE
                         : has("rgb")   ? PNG_COLOR_TYPE_RGB
                                        : PNG_COLOR_TYPE_GRAY) |
                        (has("alpha") ? PNG_COLOR_MASK_ALPHA : 0),
          .bits = std::stoi(std::string(text.substr(text.find_first_of("0123456789")))),
          .transparent = has("trns")};
}

/// Of a small and a large picture, interlaced or not, which have the same pixels; and as a mask.
struct PngKinds {
  std::unique_ptr<ImageReader> reader = make_png_reader(), masks = make_mask_reader();

  /// The numbers that were written, of a part.
  std::string mask_of(const Kind& kind, const std::string& file) {
    const auto header = masks->open(file);
    if (!header) return concat("mask: ", header.error().message, "\n");
    const Box box{kind.height / 3, kind.width / 3, kind.height / 2, kind.width / 2};
    const Pixels pixels = masks->read(box).value();
    for (std::int64_t y = 0; y < box.height; ++y)
      for (std::int64_t x = 0; x < box.width; ++x)
        if (pixels.data[y * pixels.stride + x] != sample(kind, box.y + y, box.x + x, 0))
          return concat("mask: another number at ", y, " ", x, "\n");
    return "mask: as written\n";
  }

  std::string answer(std::string_view text) {
    std::string out;
    Kind kind = kind_of(text);
    for (const auto& [height, width] : {std::pair{5, 3}, std::pair{150, 203}}) {
      std::string found[2];
      for (const bool interlaced : {false, true}) {
        kind.height = height, kind.width = width, kind.interlaced = interlaced;
        const std::string file = write(kind);
        found[interlaced] = all_that_is_read(*reader, file, kind.name()) + mask_of(kind, file);
      }
      out += found[0] == found[1] ? found[0] : concat(found[0], "interlaced: ", found[1]);
    }
    return out;
  }
};

TEST(PngKindsTest, AreReadAsTheyWereWrittenAndAsPillowReadsThem) {
  expect_session<PngKinds>("readers/png.txt");
}

class PngReaderTest : public ReaderTest {
 protected:
  PngReaderTest() : ReaderTest(make_png_reader()) {}
};

TEST_F(PngReaderTest, SixteenBitsAreRoundedToEight) {
  const std::vector<std::uint8_t> rows = {0x12, 0x34, 0x00, 0x00, 0xff, 0xff,
                                          0x80, 0xff, 0x7f, 0x00, 0x01, 0xff};
  EXPECT_EQ(read_all(write_png(1, 2, rows, {.bits = 16})).bytes,
            (std::vector<std::uint8_t>{0x12, 0, 255, 0x80, 0x7f, 2}));
}

TEST_F(PngReaderTest, TheHeaderSaysSizeAndOrientation) {
  const ImageHeader header = reader_->open(write_png(photograph(4, 9), {.orientation = 8})).value();
  EXPECT_EQ(header.height, 4);
  EXPECT_EQ(header.width, 9);
  EXPECT_EQ(header.orientation, 8);
}

TEST_F(PngReaderTest, SaysWhatIsWrongAndReadsTheNextFile) {
  const std::string file = write_png(photograph(50, 50));
  for (const std::size_t size : {std::size_t{8}, std::size_t{20}, file.size() / 2})
    EXPECT_EQ(error_of(file.substr(0, size)), "the PNG data ends too early") << size;
  std::string damaged = file;
  damaged[file.size() / 2] = static_cast<char>(damaged[file.size() / 2] ^ 1);
  EXPECT_TRUE(error_of(damaged).starts_with("the PNG data cannot be read: ")) << error_of(damaged);
  EXPECT_EQ(error_of(file), "no error");
}

}  // namespace
}  // namespace brigade
