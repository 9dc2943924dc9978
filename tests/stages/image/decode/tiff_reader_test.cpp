#include <tiffio.h>

#include <tuple>

#include "stages/image/decode/imgcodecs.h"
#include "tests/support/file_text.h"
#include "tests/support/images/pillow_digests.h"
#include "tests/support/images/reader_test.h"
#include "tests/support/temporary_folder.h"

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
  std::uint32_t number = 0;
  for (int plane = 0; plane < (options.apart ? options.samples : 1); ++plane)
    for (std::int64_t y = 0; y < kHeight; y += options.tiled ? kTile : kStrip) {
      if (!options.tiled) {
        auto rows = block(options, y, 0, std::min(kStrip, kHeight - y), kWidth, plane);
        TIFFWriteEncodedStrip(tiff, number++, rows.data(), static_cast<tmsize_t>(rows.size()));
        continue;
      }
      for (std::int64_t x = 0; x < kWidth; x += kTile) {
        auto rows = block(options, y, x, kTile, kTile, plane);
        TIFFWriteEncodedTile(tiff, number++, rows.data(), static_cast<tmsize_t>(rows.size()));
      }
    }
  TIFFClose(tiff);
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Picture expected_of(const TiffOptions& options) {
  Picture out = blank(kHeight, kWidth);
  const int most = (1 << options.bits) - 1;
  for (std::int64_t y = 0; y < kHeight; ++y)
    for (std::int64_t x = 0; x < kWidth; ++x)
      for (std::int64_t c = 0; c < 3; ++c) {
        const bool rgb =
            options.photometric == PHOTOMETRIC_RGB || options.samples - (options.alpha >= 0) >= 3;
        const int value = sample(options, y, x, rgb ? c : 0);
        int level = value * 255 / most;
        if (options.alpha == EXTRASAMPLE_ASSOCALPHA) {
          const int alpha = sample(options, y, x, options.samples - 1) * 255 / most;
          level = alpha == 0 ? 0 : std::min(level * 255 / alpha, 255);
        }
        out.at(y, x, c) = static_cast<std::uint8_t>(
            options.photometric == PHOTOMETRIC_PALETTE      ? (c << options.bits) + value
            : options.photometric == PHOTOMETRIC_MINISWHITE ? 255 - level
                                                            : level);
      }
  return out;
}

std::string name_of(const TiffOptions& options) {
  const char* const colors[] = {"white0", "black0", "rgb", "palette", "", "inks"};
  return concat(colors[options.photometric], "_", options.samples, "x", options.bits,
                options.apart ? "_apart" : "", options.tiled ? "_tiled" : "", "_compression",
                options.compression, options.alpha >= 0 ? concat("_alpha", options.alpha) : "",
                options.big_endian ? "_big" : "", options.palette_step == 1 ? "_8_bit_entries" : "",
                ".tif");
}

std::vector<TiffOptions> all_kinds() {
  std::vector<TiffOptions> kinds;
  for (const bool tiled : {false, true}) {
    for (const std::uint16_t bits : {1, 2, 4, 8, 16})
      for (const std::uint16_t gray : {PHOTOMETRIC_MINISWHITE, PHOTOMETRIC_MINISBLACK})
        kinds.push_back({.photometric = gray, .bits = bits, .samples = 1, .tiled = tiled});
    for (const std::uint16_t bits : {1, 2, 4, 8})
      kinds.push_back(
          {.photometric = PHOTOMETRIC_PALETTE, .bits = bits, .samples = 1, .tiled = tiled});
    for (const std::uint16_t bits : {8, 16})
      for (const bool apart : {false, true})
        for (const bool big_endian : {false, true}) {
          kinds.push_back({.bits = bits, .apart = apart, .tiled = tiled, .big_endian = big_endian});
          for (const int alpha : {0, 1, 2})
            kinds.push_back({.bits = bits,
                             .samples = 4,
                             .apart = apart,
                             .tiled = tiled,
                             .alpha = alpha,
                             .big_endian = big_endian});
        }
    for (const std::uint16_t compression :
         {COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS, COMPRESSION_ZSTD,
          COMPRESSION_LZMA})
      if (TIFFIsCODECConfigured(compression) != 0)
        kinds.push_back({.tiled = tiled, .compression = compression});
    kinds.push_back({.photometric = PHOTOMETRIC_MINISWHITE,
                     .bits = 1,
                     .samples = 1,
                     .tiled = tiled,
                     .compression = COMPRESSION_CCITTFAX4});
  }
  return kinds;
}

/// Colors that are called gray, as programs for satellite pictures write them.
std::vector<TiffOptions> many_channels() {
  std::vector<TiffOptions> kinds;
  for (const bool tiled : {false, true})
    for (const bool apart : {false, true})
      for (const std::uint16_t bits : {8, 16})
        for (const std::uint16_t samples : {3, 4, 8})
          kinds.push_back({.photometric = PHOTOMETRIC_MINISBLACK,
                           .bits = bits,
                           .samples = samples,
                           .apart = apart,
                           .tiled = tiled});
  return kinds;
}

/// It does not know a fourth plane that is no alpha, or that colors are multiplied by; and it takes
/// planes of 16 bits for 8, and white of 16 bits for black.
bool read_by_pillow(const TiffOptions& options) {
  if (options.bits == 16) return !options.apart && options.photometric != PHOTOMETRIC_MINISWHITE;
  return !options.apart || options.alpha < 0 || options.alpha == EXTRASAMPLE_UNASSALPHA;
}

class TiffReaderTest : public ReaderTest {
 protected:
  TiffReaderTest() : ReaderTest(make_tiff_reader()) {}
};

TEST_F(TiffReaderTest, EveryKindIsWhatWasWrittenAndWhatPillowReads) {
  const std::map<std::string, std::string> pillow = pillow_digests();
  for (const TiffOptions& options : all_kinds()) {
    SCOPED_TRACE(name_of(options));
    const std::string file = write(options);
    if (read_by_pillow(options)) hand_out(name_of(options), file);
    const Picture found = read_all(file);
    EXPECT_TRUE(found == expected_of(options));
    const auto digest = pillow.find(name_of(options));
    if (read_by_pillow(options)) {
      EXPECT_EQ(digest_of(found), digest == pillow.end() ? "none" : digest->second);
    }
    for (const Box& box : {Box{0, 0, 1, 1}, Box{7, 9, 20, 30}, Box{36, 44, 1, 1}})
      EXPECT_EQ(read(file, box), part_of(found, box.y, box.x, box.height, box.width));
  }
}

TEST_F(TiffReaderTest, ThreeChannelsAndMoreThatAreCalledGrayAreRgb) {
  for (const TiffOptions& options : many_channels()) {
    SCOPED_TRACE(name_of(options));
    const std::string file = write(options);
    EXPECT_TRUE(read_all(file) == expected_of(options));
    EXPECT_EQ(reader_->open(file).value().left_out, options.samples - 3);
  }
}

/// All samples as they were written.
Picture stored_of(const TiffOptions& options) {
  Picture out = blank(kHeight, kWidth, options.samples);
  const int most = (1 << options.bits) - 1;
  for (std::int64_t y = 0; y < kHeight; ++y)
    for (std::int64_t x = 0; x < kWidth; ++x)
      for (std::int64_t c = 0; c < options.samples; ++c)
        out.at(y, x, c) = static_cast<std::uint8_t>(sample(options, y, x, c) * 255 / most);
  return out;
}

TEST_F(TiffReaderTest, AllChannelsAreThoseThatWereWritten) {
  std::vector<TiffOptions> kinds = many_channels();
  for (const bool tiled : {false, true})
    for (const bool apart : {false, true}) {
      for (const int compression : {COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_ZSTD})
        if (TIFFIsCODECConfigured(compression) != 0)
          kinds.push_back({.photometric = PHOTOMETRIC_MINISBLACK,
                           .bits = 16,
                           .samples = 13,
                           .apart = apart,
                           .tiled = tiled,
                           .compression = static_cast<std::uint16_t>(compression),
                           .big_endian = tiled});
      for (const std::uint16_t samples : {1, 2, 32})
        for (const std::uint16_t bits : {1, 2, 4, 8, 16})
          kinds.push_back({.photometric = PHOTOMETRIC_MINISBLACK,
                           .bits = bits,
                           .samples = samples,
                           .apart = apart,
                           .tiled = tiled});
      for (const int alpha : {-1, 0, 1, 2})  // none is divided by
        kinds.push_back({.samples = 4, .apart = apart, .tiled = tiled, .alpha = alpha});
      kinds.push_back(
          {.photometric = PHOTOMETRIC_SEPARATED, .samples = 4, .apart = apart, .tiled = tiled});
    }
  for (const TiffOptions& options : kinds) {
    SCOPED_TRACE(name_of(options));
    const std::string file = write(options);
    const Picture all = stored_of(options);
    EXPECT_TRUE(read_all(file, Channels::stored) == all);
    for (const Box& box : {Box{0, 0, 1, 1}, Box{7, 9, 20, 30}, Box{36, 44, 1, 1}})
      EXPECT_TRUE(read(file, box, Channels::stored) ==
                  part_of(all, box.y, box.x, box.height, box.width));
  }
}

TEST_F(TiffReaderTest, OfAllChannelsWhiteIs255AndAPaletteHasThree) {
  const TiffOptions white{.photometric = PHOTOMETRIC_MINISWHITE, .samples = 1};
  EXPECT_EQ(channel_of(read_all(write(white), Channels::stored), 0), expected_of(white));
  const TiffOptions palette{.photometric = PHOTOMETRIC_PALETTE, .samples = 1};
  EXPECT_EQ(read_all(write(palette), Channels::stored), expected_of(palette));
}

TEST_F(TiffReaderTest, AlphaIsNoChannelThatIsLeftOut) {
  for (const int alpha : {1, 2})
    for (const std::uint16_t photometric : {PHOTOMETRIC_RGB, PHOTOMETRIC_MINISBLACK}) {
      const TiffOptions options{.photometric = photometric, .samples = 4, .alpha = alpha};
      EXPECT_EQ(reader_->open(write(options)).value().left_out, 0);
    }
  const TiffOptions gray{.photometric = PHOTOMETRIC_MINISBLACK, .samples = 2, .alpha = 1};
  EXPECT_TRUE(read_all(write(gray)) == expected_of(gray));
  EXPECT_EQ(reader_->open(write(gray)).value().left_out, 0);
  const TiffOptions near_infrared{.samples = 4, .alpha = 0};
  EXPECT_EQ(reader_->open(write(near_infrared)).value().left_out, 1);
}

TEST_F(TiffReaderTest, APaletteMayHaveEntriesOf8Bits) {
  const TiffOptions options{.photometric = PHOTOMETRIC_PALETTE, .samples = 1, .palette_step = 1};
  EXPECT_TRUE(read_all(write(options)) == expected_of(options));
}

TEST_F(TiffReaderTest, SixteenBitsAreRoundedToEight) {
  std::string file = write({.photometric = PHOTOMETRIC_MINISBLACK, .bits = 16, .samples = 1});
  file.replace(8, 4, {'\xff', '\x01', '\x34', '\x12'});  // the first two pixels: 0x01ff, 0x1234
  EXPECT_EQ(read(file, {0, 0, 1, 2}).bytes, (std::vector<std::uint8_t>{2, 2, 2, 18, 18, 18}));
}

TEST_F(TiffReaderTest, SaysWhatIsNotRead) {
  EXPECT_EQ(error_of(write({.photometric = PHOTOMETRIC_SEPARATED, .samples = 4})),
            "it is a TIFF file of an unsupported kind (photometric 5 (CMYK), 4 x 8 bits, format "
            "1); expected gray, RGB or a palette with 1 to 16 bits; `channels: 4` reads its inks");
  for (const Channels channels : {Channels::rgb, Channels::stored})
    EXPECT_EQ(error_of(write({.photometric = PHOTOMETRIC_MINISBLACK, .samples = 33}), channels),
              "it is a TIFF file with 33 channels; at most 32 are supported");
  const std::string file = write({.compression = COMPRESSION_LZW});
  const auto with = [&file](std::uint16_t tag, std::uint16_t value) {
    const std::string entry{static_cast<char>(tag), static_cast<char>(tag >> 8), 3, 0, 1, 0, 0, 0};
    std::string changed = file;
    const std::size_t at = changed.find(entry) + entry.size();
    changed[at] = static_cast<char>(value);
    changed[at + 1] = static_cast<char>(value >> 8);
    return changed;
  };
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

TEST_F(TiffReaderTest, AnyCutOrChangedByteIsAnErrorOrAPicture) {
  for (const std::uint16_t compression : {COMPRESSION_LZW, COMPRESSION_ZSTD, COMPRESSION_LZMA})
    if (TIFFIsCODECConfigured(compression) != 0)
      expect_damage_is_survived(write({.tiled = true, .compression = compression}), 97);
  expect_damage_is_survived(write({.photometric = PHOTOMETRIC_MINISBLACK,
                                   .samples = 5,
                                   .apart = true,
                                   .alpha = EXTRASAMPLE_ASSOCALPHA}),
                            97);
  const std::string file = write({.compression = COMPRESSION_LZW});
  EXPECT_TRUE(error_of(file.substr(0, 4)).starts_with("the TIFF data cannot be read: "));
}

}  // namespace
}  // namespace brigade
