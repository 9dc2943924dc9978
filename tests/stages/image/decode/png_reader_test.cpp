// Every kind of PNG file: each colour type with each depth, with and without tRNS, interlaced or
// not, written by libpng. Their pixels are known, and Pillow has read them, too.

#include "tests/support/images/pillow_digests.h"
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

std::vector<Kind> all_kinds() {
  const std::pair<int, std::vector<int>> types[] = {{PNG_COLOR_TYPE_GRAY, {1, 2, 4, 8, 16}},
                                                    {PNG_COLOR_TYPE_PALETTE, {1, 2, 4, 8}},
                                                    {PNG_COLOR_TYPE_RGB, {8, 16}},
                                                    {PNG_COLOR_TYPE_GRAY_ALPHA, {8, 16}},
                                                    {PNG_COLOR_TYPE_RGB_ALPHA, {8, 16}}};
  std::vector<Kind> kinds;
  for (const auto& [type, depths] : types)
    for (const int bits : depths)
      for (const bool transparent : {false, true})
        for (const bool interlaced : {false, true})
          for (const auto& [height, width] : {std::pair{5, 3}, std::pair{150, 203}}) {
            const bool has_alpha = (type & PNG_COLOR_MASK_ALPHA) != 0;
            if (!transparent || !has_alpha)
              kinds.push_back({type, bits, transparent, interlaced, height, width});
          }
  return kinds;
}

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

Picture pixels_of(const Kind& kind) {
  Picture out = blank(kind.height, kind.width);
  const int most = kind.bits == 16 ? 65535 : (1 << kind.bits) - 1;
  for (std::int64_t y = 0; y < kind.height; ++y)
    for (std::int64_t x = 0; x < kind.width; ++x)
      for (std::int64_t c = 0; c < 3; ++c) {
        const int value = sample(kind, y, x, kind.gray() || kind.palette() ? 0 : c);
        const png_color color = palette_color(static_cast<std::size_t>(value % 256));
        out.at(y, x, c) = kind.palette() ? (c == 0   ? color.red
                                            : c == 1 ? color.green
                                                     : color.blue)
                                         : static_cast<std::uint8_t>(value * 255 / most);
      }
  return out;
}

class PngKindsTest : public ReaderTest {
 protected:
  PngKindsTest() : ReaderTest(make_png_reader()) {}
};

TEST_F(PngKindsTest, EveryKindIsWhatWasWrittenAndWhatPillowReads) {
  const std::map<std::string, std::string> pillow = pillow_digests();
  for (const Kind& kind : all_kinds()) {
    SCOPED_TRACE(kind.name());
    const std::string file = write(kind);
    hand_out(kind.name(), file);
    const Picture found = read_all(file);
    EXPECT_TRUE(found == pixels_of(kind));  // too many to print
    const auto expected = pillow.find(kind.name());
    EXPECT_EQ(digest_of(found), expected == pillow.end() ? "none" : expected->second);
    const Box box{kind.height / 3, kind.width / 3, kind.height / 2, kind.width / 2};
    EXPECT_EQ(read(file, box), part_of(found, box.y, box.x, box.height, box.width));
  }
}

// As they come: Pillow wrote these.
TEST_F(PngKindsTest, FilesOfPillowAreWhatItReads) {
  int files = 0;
  for (const auto& [name, digest] : pillow_digests()) {
    const std::string path = concat(BRIGADE_SOURCE_DIR, "/tests/golden/images/", name);
    if (!name.ends_with(".png") || !std::ifstream(path)) continue;
    ++files;
    std::ifstream in(path, std::ios::binary);
    const std::string file{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(digest_of(read_all(file)), digest) << name;
  }
  EXPECT_GE(files, 10);
}

using namespace testing_support;

class PngReaderTest : public ReaderTest {
 protected:
  PngReaderTest() : ReaderTest(make_png_reader()) {}
};

/// Of each kind that has one number for a pixel.
TEST_F(PngKindsTest, MasksAreTheNumbersThatWereWritten) {
  const auto reader = make_mask_reader();
  int masks = 0;
  for (const Kind& kind : all_kinds()) {
    SCOPED_TRACE(kind.name());
    const std::string file = write(kind);
    const auto header = reader->open(file);
    const bool is_mask = (kind.gray() || kind.palette()) && kind.bits <= 8;
    ASSERT_EQ(header.ok(), is_mask);
    if (!is_mask) continue;
    ++masks;
    const Box box{kind.height / 3, kind.width / 3, kind.height / 2, kind.width / 2};
    const Pixels pixels = reader->read(box).value();
    for (std::int64_t y = 0; y < box.height; ++y)
      for (std::int64_t x = 0; x < box.width; ++x)
        ASSERT_EQ(pixels.data[y * pixels.stride + x], sample(kind, box.y + y, box.x + x, 0));
  }
  EXPECT_GE(masks, 30);
}

TEST_F(PngReaderTest, AllChannelsAreThoseThatWereWritten) {
  const std::pair<int, std::int64_t> kinds[] = {{PNG_COLOR_TYPE_GRAY, 1},
                                                {PNG_COLOR_TYPE_GRAY_ALPHA, 2},
                                                {PNG_COLOR_TYPE_RGB, 3},
                                                {PNG_COLOR_TYPE_RGB_ALPHA, 4}};
  for (const auto& [type, channels] : kinds)
    for (const bool interlaced : {false, true}) {
      const Picture picture = photograph(19, 23, channels);
      const std::string file = write_png(picture, {.color_type = type, .interlaced = interlaced});
      EXPECT_EQ(read_all(file, Channels::stored), picture) << channels;
      EXPECT_EQ(read(file, {3, 5, 7, 11}, Channels::stored), part_of(picture, 3, 5, 7, 11));
      EXPECT_EQ(read_all(file).channels, 3) << "and three where RGB is wanted";
    }
  const std::string palette = write_png(
      1, 2, {0, 1},
      {.color_type = PNG_COLOR_TYPE_PALETTE, .palette = {{1, 2, 3}, {4, 5, 6}}, .alphas = {9}});
  EXPECT_EQ(read_all(palette, Channels::stored).channels, 3);
}

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

TEST_F(PngReaderTest, AnyCutOrChangedByteIsAnErrorOrAPicture) {
  const std::string file = write_png(photograph(13, 17), {.interlaced = true, .orientation = 2});
  expect_damage_is_survived(file);
}

}  // namespace
}  // namespace brigade
