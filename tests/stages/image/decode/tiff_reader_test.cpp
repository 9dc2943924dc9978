#include <tiffio.h>

#include <tuple>

#include "stages/image/decode/imgcodecs.h"
#include "tests/support/file_text.h"
#include "tests/support/images/reader_test.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/word_for_word.h"

namespace brigade {
namespace {

using namespace testing_support;

struct TiffOptions {
  std::uint16_t photometric = PHOTOMETRIC_RGB;
  std::uint16_t bits = 8;
  std::uint16_t samples = 3;
  bool apart = false;  ///< a plane per sample
  bool tiled = false;
  std::uint16_t compression = COMPRESSION_NONE;
  int alpha = -1;  ///< what the last sample is
  bool big_endian = false;
  int palette_step = 257;  ///< of the entries' levels; 1: they have 8 bits
};

constexpr std::int64_t kHeight = 37, kWidth = 45, kTile = 16, kStrip = 5;
/// Of each photometric.
constexpr std::string_view kColors[] = {"white0", "black0", "rgb", "palette", "", "inks"};

/// Both bytes of 16 bits are equal, so that all ways to get to 8 give the same.
std::uint16_t sample(const TiffOptions& options, std::int64_t y, std::int64_t x, std::int64_t i) {
  const std::int64_t step = options.samples > 4 ? 64 : 4;
  const auto value = mix64(static_cast<std::uint64_t>((y * kWidth + x) * step + i));
  const auto level = static_cast<std::uint16_t>(value % (1U << std::min<int>(options.bits, 8)));
  return static_cast<std::uint16_t>(options.bits == 16 ? level * 257 : level);
}

/// Rows [top, top + height) x columns [left, left + width), of one plane or of all samples.
std::vector<std::uint8_t> block(const TiffOptions& options, std::int64_t top, std::int64_t left,
                                std::int64_t height, std::int64_t width, int plane) {
  const std::int64_t samples = options.apart ? 1 : options.samples;
  const std::int64_t row_bytes = (width * samples * options.bits + 7) / 8;
  std::vector<std::uint8_t> out(static_cast<std::size_t>(row_bytes * height));
  for (std::int64_t y = 0; y < height && top + y < kHeight; ++y)
    for (std::int64_t x = 0; x < width && left + x < kWidth; ++x)
      for (std::int64_t i = 0; i < samples; ++i) {
        const auto value = sample(options, top + y, left + x, options.apart ? plane : i);
        const std::int64_t bit = (x * samples + i) * options.bits;
        const auto at = static_cast<std::size_t>(y * row_bytes + bit / 8);
        if (options.bits == 16)
          out[at] = out[at + 1] = static_cast<std::uint8_t>(value);
        else
          out[at] = static_cast<std::uint8_t>(out[at] | value << (8 - options.bits - bit % 8));
      }
  return out;
}

std::string write(const TiffOptions& options) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.tif", "");
  TIFF* const tiff = TIFFOpen(path.c_str(), options.big_endian ? "wb" : "wl");
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(kHeight));
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(kWidth));
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, options.bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, options.samples);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, options.photometric);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, options.compression);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG,
               options.apart ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
  const auto alpha = static_cast<std::uint16_t>(options.alpha);
  if (options.alpha >= 0) TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &alpha);
  std::vector<std::uint16_t> map;
  for (int i = 0; i < 3 << options.bits && options.bits <= 8; ++i)
    map.push_back(static_cast<std::uint16_t>(i % 256 * options.palette_step));
  if (options.photometric == PHOTOMETRIC_PALETTE)
    TIFFSetField(tiff, TIFFTAG_COLORMAP, map.data(), map.data() + (1 << options.bits),
                 map.data() + (2 << options.bits));
  if (options.tiled) {
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, static_cast<std::uint32_t>(kTile));
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, static_cast<std::uint32_t>(kTile));
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>(kStrip));
  }
  const std::int64_t height = options.tiled ? kTile : kStrip;
  const std::int64_t width = options.tiled ? kTile : kWidth;
  std::uint32_t number = 0;
  for (int plane = 0; plane < (options.apart ? options.samples : 1); ++plane)
    for (std::int64_t y = 0; y < kHeight; y += height)
      for (std::int64_t x = 0; x < kWidth; x += width) {
        const std::int64_t rows = options.tiled ? kTile : std::min(kStrip, kHeight - y);
        auto bytes = block(options, y, x, rows, width, plane);
        const auto size = static_cast<tmsize_t>(bytes.size());
        options.tiled ? TIFFWriteEncodedTile(tiff, number++, bytes.data(), size)
                      : TIFFWriteEncodedStrip(tiff, number++, bytes.data(), size);
      }
  TIFFClose(tiff);
  return file_text(path);
}

std::string name_of(const TiffOptions& options) {
  return concat(kColors[options.photometric], "_", options.samples, "x", options.bits,
                options.apart ? "_apart" : "", options.tiled ? "_tiled" : "", "_compression",
                options.compression, options.alpha >= 0 ? concat("_alpha", options.alpha) : "",
                options.big_endian ? "_big" : "", options.palette_step == 1 ? "_8_bit_entries" : "",
                ".tif");
}

/// COLORS SAMPLESxBITS [compressionN] [alphaN] [8_bit_entries], as in name_of().
TiffOptions options_of(const std::string& text) {
  const auto number = [&text](const std::string& word, int otherwise) {
    const std::size_t at = text.find(word);
    return at == text.npos ? otherwise : std::stoi(text.substr(at + word.size()));
  };
  const auto* const color = std::find(kColors, std::end(kColors), parted(text, " ").first);
  return {.photometric = static_cast<std::uint16_t>(color - kColors),
          .bits = static_cast<std::uint16_t>(number("x", 8)),
          .samples = static_cast<std::uint16_t>(number(" ", 3)),
          .compression = static_cast<std::uint16_t>(number("compression", COMPRESSION_NONE)),
          .alpha = number("alpha", -1),
          .palette_step = text.ends_with("8_bit_entries") ? 1 : 257};
}

/// It does not know a fourth plane that is no alpha, or that colors are multiplied by, nor many
/// channels; and it takes planes of 16 bits for 8, and white of 16 bits for black.
bool read_by_pillow(const TiffOptions& options) {
  if (options.samples > 1 && options.photometric != PHOTOMETRIC_RGB) return false;
  if (options.bits == 16) return !options.apart && options.photometric != PHOTOMETRIC_MINISWHITE;
  return !options.apart || options.alpha < 0 || options.alpha == EXTRASAMPLE_UNASSALPHA;
}

/// Every layout of one kind of file, which all have the same pixels.
struct TiffLayouts {
  std::unique_ptr<ImageReader> reader = make_tiff_reader();

  std::string answer(std::string_view kind) {
    std::string first;
    int compared = 0;
    for (const int layout : {0, 1, 2, 3, 4, 5, 6, 7}) {
      TiffOptions options = options_of(std::string(kind));
      options.apart = (layout & 1) != 0;
      options.tiled = (layout & 2) != 0;
      options.big_endian = (layout & 4) != 0;
      const std::string name = read_by_pillow(options) ? name_of(options) : "";
      if (TIFFIsCODECConfigured(options.compression) == 0) options.compression = COMPRESSION_NONE;
      const std::string found = all_that_is_read(*reader, write(options), name);
      compared += found.find(", as Pillow") != found.npos;
      const std::string without = replaced(found, ", as Pillow", "");
      if (first.empty()) first = without;
      if (without != first) return concat(first, name_of(options), ": ", found);
    }
    return concat(first, compared, " of 8 compared with Pillow\n");
  }
};

TEST(TiffLayoutsTest, HaveThePixelsThatWereWritten) {
  expect_session<TiffLayouts>("readers/tiff.txt");
}

class TiffReaderTest : public ReaderTest {
 protected:
  TiffReaderTest() : ReaderTest(make_tiff_reader()) {}
};

TEST_F(TiffReaderTest, SixteenBitsAreRoundedToEight) {
  std::string file = write({.photometric = PHOTOMETRIC_MINISBLACK, .bits = 16, .samples = 1});
  file.replace(8, 4, {'\xff', '\x01', '\x34', '\x12'});  // the first two pixels: 0x01ff, 0x1234
  EXPECT_EQ(read(file, {0, 0, 1, 2}).bytes, (std::vector<std::uint8_t>{2, 2, 2, 18, 18, 18}));
}

TEST_F(TiffReaderTest, SaysWhatIsNotRead) {
  const std::string file = write({.compression = COMPRESSION_LZW});
  const auto with = [&file](std::uint16_t tag, std::uint16_t value) {
    const std::string entry{static_cast<char>(tag), static_cast<char>(tag >> 8), 3, 0, 1, 0, 0, 0};
    std::string changed = file;
    const std::size_t at = changed.find(entry) + entry.size();
    changed[at] = static_cast<char>(value);
    changed[at + 1] = static_cast<char>(value >> 8);
    return changed;
  };
  EXPECT_TRUE(error_of(file.substr(0, 4)).starts_with("the TIFF data cannot be read: "));
  EXPECT_EQ(error_of(file), "no error");
  for (const auto& [tag, value, text] :
       {std::tuple{TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_CIELAB, "photometric 8 (CIE L*a*b*)"},
        {TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_YCBCR, "photometric 6 (YCbCr without JPEG compression)"},
        {TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISWHITE, "photometric 0, 3 x 8 bits"},
        {TIFFTAG_COMPRESSION, COMPRESSION_WEBP, "compression 50001 (WebP); expected"},
        {TIFFTAG_COMPRESSION, COMPRESSION_JP2000, "compression 34712 (JPEG 2000); expected"}}) {
    const std::string error =
        error_of(with(static_cast<std::uint16_t>(tag), static_cast<std::uint16_t>(value)));
    EXPECT_NE(error.find(text), error.npos) << error;
  }
}

/// A gray picture of `side` x `side` in tiles which all are the same `bytes`, PackBits codes of
/// black.
std::string with_one_tile(std::uint32_t side, std::uint32_t tile, std::uint32_t bytes) {
  std::string file("II*\0\0\0\0\0", 8);
  const auto add = [&file](std::uint32_t value, int size) {
    for (int i = 0; i < size; ++i) file += static_cast<char>(value >> 8 * i);
  };
  for (std::uint32_t i = 0; i < bytes; i += 2) file.append("\x81\0", 2);
  const std::uint32_t count = (side / tile) * (side / tile);
  const auto list_at = static_cast<std::uint32_t>(file.size());
  for (const std::uint32_t number : {8U, bytes})
    for (std::uint32_t i = 0; i < count; ++i) add(number, 4);
  const auto directory_at = static_cast<std::uint32_t>(file.size());
  for (int i = 0; i < 4; ++i) file[4 + i] = static_cast<char>(directory_at >> 8 * i);
  const std::uint32_t tags[][2] = {
      {TIFFTAG_IMAGEWIDTH, side},
      {TIFFTAG_IMAGELENGTH, side},
      {TIFFTAG_BITSPERSAMPLE, 8},
      {TIFFTAG_COMPRESSION, COMPRESSION_PACKBITS},
      {TIFFTAG_PHOTOMETRIC, 1},
      {TIFFTAG_TILEWIDTH, tile},
      {TIFFTAG_TILELENGTH, tile},
      {TIFFTAG_TILEOFFSETS, count == 1 ? 8 : list_at},
      {TIFFTAG_TILEBYTECOUNTS, count == 1 ? bytes : list_at + 4 * count}};
  add(std::size(tags), 2);
  for (const auto& [tag, value] : tags) {
    add(tag, 2);
    add(TIFF_LONG, 2);
    add(tag >= TIFFTAG_TILEOFFSETS ? count : 1, 4);
    add(value, 4);
  }
  add(0, 4);
  return file;
}

TEST_F(TiffReaderTest, TilesMayShareBytesButNotManyTimes) {
  EXPECT_EQ(read_all(with_one_tile(1024, 16, 100)), blank(1024, 1024));
  EXPECT_EQ(error_of(with_one_tile(1024, 16, 1 << 20)),
            "the TIFF data cannot be read: its strips or tiles overlap");
}

TEST_F(TiffReaderTest, WhatAFileCannotHoldTakesNoMemory) {
  EXPECT_EQ(error_of(with_one_tile(4096, 4096, 1000)),
            "the TIFF data ends too early: 1130 bytes cannot hold 4096 x 4096 pixels");
}

TEST_F(TiffReaderTest, JpegCodesAreBaseline) {
  std::string file = file_text(BRIGADE_SOURCE_DIR "/tests/golden/images/tiff/jpeg.tif");
  const std::size_t frame = file.find("\xff\xc0");
  ASSERT_NE(frame, file.npos);
  EXPECT_EQ(error_of(file), "no error");
  for (const char kind : {'\xc2', '\xc9', '\xca'}) {
    file[frame + 1] = kind;
    EXPECT_EQ(error_of(file),
              "it is a TIFF file with progressive or arithmetic JPEG, which is not supported; "
              "convert the file");
  }
}

}  // namespace
}  // namespace brigade
