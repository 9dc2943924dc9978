#include "stages/image/decode/jpeg_huffman.h"

#include <gtest/gtest.h>

#include <jerror.h>

#include <brigade/text.h>
#include "tests/support/images/plain_jpeg.h"

namespace brigade {
namespace {

using namespace testing_support;

struct Found {
  bool took_over = false;
  Picture picture;
  std::vector<int> warnings;
};

thread_local std::vector<int>* g_warnings;

/// The columns [x, x + width) of the rows from y on; width 0: all of them.
Found decode(const std::string& file, bool fast = true, std::int64_t x = 0, std::int64_t width = 0,
             std::int64_t y = 0, std::int64_t height = 0, JpegPositions* positions = nullptr) {
  Found found;
  g_warnings = &found.warnings;
  JpegHuffman huffman(fast);
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  errors.emit_message = [](j_common_ptr info, int level) {
    if (level < 0) g_warnings->push_back(info->err->msg_code);
  };
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&jpeg, TRUE);
  if (jpeg.num_components != 4) jpeg.out_color_space = JCS_RGB;
  jpeg_start_decompress(&jpeg);
  auto left = static_cast<JDIMENSION>(x), columns = static_cast<JDIMENSION>(width);
  if (width > 0) jpeg_crop_scanline(&jpeg, &left, &columns);
  found.took_over = JpegHuffman::starts_in(jpeg);
  const int block = (jpeg.num_components == 1 ? 1 : jpeg.max_h_samp_factor) * DCTSIZE;
  const auto first = static_cast<std::int64_t>(left) / block;
  const auto end = static_cast<std::int64_t>(left + jpeg.output_width + block - 1) / block;
  if (found.took_over) huffman.start(jpeg, first, end - 1, positions);
  if (height == 0) height = jpeg.image_height - y;
  found.picture = blank(height, jpeg.output_width, jpeg.out_color_components);
  if (y > 0) jpeg_skip_scanlines(&jpeg, static_cast<JDIMENSION>(y));
  for (std::int64_t i = 0; i < height; ++i) {
    JSAMPROW row = &found.picture.at(i, 0, 0);
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  if (positions != nullptr) huffman.finish_positions();
  jpeg_destroy_decompress(&jpeg);
  return found;
}

/// Every coefficient may be anything.
Picture noise(std::int64_t height, std::int64_t width, std::int64_t channels = 3) {
  Picture out = blank(height, width, channels);
  Philox random(1, 2, 3, 4);
  for (std::uint8_t& sample : out.bytes) sample = static_cast<std::uint8_t>(random.next());
  return out;
}

void expect_as_libjpeg(const std::string& file, const std::string& what) {
  const PlainJpeg plain = decode_plainly(file);
  ASSERT_EQ(plain.warnings, 0) << what;
  for (const bool fast : {true, false}) {
    const Found found = decode(file, fast);
    EXPECT_TRUE(found.took_over) << what;
    EXPECT_TRUE(found.warnings.empty()) << what;
    EXPECT_EQ(found.picture, plain.picture) << what << ", fast " << fast;
  }
}

TEST(JpegHuffmanTest, PixelsAreLibjpegsToTheBit) {
  for (const int quality : {5, 50, 90, 100})
    for (const auto& [horizontal, vertical] :
         {std::pair{2, 2}, std::pair{2, 1}, std::pair{1, 1}, std::pair{1, 2}, std::pair{4, 1}})
      for (const bool optimize : {false, true}) {
        const JpegOptions options = {.quality = quality,
                                     .horizontal = horizontal,
                                     .vertical = vertical,
                                     .optimize = optimize};
        expect_as_libjpeg(write_jpeg(photograph(75, 101), options), concat("quality ", quality));
        expect_as_libjpeg(write_jpeg(noise(40, 33), options), concat("noise of ", quality));
      }
}

TEST(JpegHuffmanTest, GrayCmykAndFilesWithRestartsToo) {
  for (const int restart : {0, 1, 7}) {
    expect_as_libjpeg(write_jpeg(photograph(50, 61, 1), {.restart = restart}), "gray");
    expect_as_libjpeg(write_jpeg(photograph(50, 61, 4), {.restart = restart}), "CMYK");
    expect_as_libjpeg(write_jpeg(noise(90, 61), {.quality = 97, .restart = restart}), "restarts");
  }
}

TEST(JpegHuffmanTest, LongFilesToo) {
  for (const int restart : {0, 50}) {
    const std::string file = write_jpeg(noise(300, 250), {.quality = 98, .restart = restart});
    EXPECT_GT(file.size(), 100'000U);
    expect_as_libjpeg(file, "noise");
  }
}

/// libjpeg-turbo's fast decoder gives other pixels then, and says nothing.
TEST(JpegHuffmanTest, FillingBeforeAByteOfDataChangesNothing) {
  const std::string file = write_jpeg(noise(90, 61), {.quality = 97});
  std::string filled = file;
  for (std::size_t at = file.find("\xff\xda"); (at = filled.find({"\xff\0", 2}, at)) != file.npos;
       at += 3)
    filled.insert(at, 1, '\xff');
  ASSERT_GT(filled.size(), file.size());
  expect_as_libjpeg(filled, "filling");
  EXPECT_EQ(decode(filled).picture, decode(file).picture);
}

TEST(JpegHuffmanTest, ColumnsThatAreCutOffChangeNothing) {
  const Picture picture = photograph(64, 200);
  for (const int restart : {0, 3})
    for (const int quality : {60, 99}) {
      const std::string file = write_jpeg(picture, {.quality = quality, .restart = restart});
      const Picture all = decode_plainly(file).picture;
      for (std::int64_t x = 0; x < 200; x += 16) {  // libjpeg decodes blocks of 16 columns
        const Found found = decode(file, x % 32 == 0, x, std::min<std::int64_t>(64, 200 - x));
        EXPECT_TRUE(found.warnings.empty());
        // Without the outer columns, whose colour needs that of the neighbours.
        const std::int64_t width = found.picture.width - 2;
        EXPECT_EQ(part_of(found.picture, 0, 1, 64, width), part_of(all, 0, x + 1, 64, width)) << x;
      }
    }
}

/// A file's boxes, one after another, with what the ones before left behind.
void expect_entries_change_nothing(const std::string& file, const std::string& what) {
  const Picture all = decode_plainly(file).picture;
  JpegPositions positions;
  Philox random(1, 2, 3, 4);
  const auto below = [&](std::int64_t end) {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(end)));
  };
  for (int box = 0; box < 30; ++box) {
    const std::int64_t y = below(all.height), height = 1 + below(all.height - y);
    const std::int64_t x = below(all.width), width = 1 + below(all.width - x);
    const Found plain = decode(file, true, x, width, y, height);
    const Found found = decode(file, box % 2 == 0, x, width, y, height, &positions);
    EXPECT_TRUE(found.warnings.empty()) << what;
    ASSERT_EQ(found.picture, plain.picture) << what << ", box " << box;
  }
  EXPECT_GT(positions.known, 0) << what;
  decode(file, true, 0, 0, 0, 0, &positions);
  JpegPositions at_once;
  decode(file, true, 0, 0, 0, 0, &at_once);
  EXPECT_EQ(positions.entries, at_once.entries) << what;
  EXPECT_EQ(decode(file, true, 0, 0, 0, 0, &positions).picture, all) << what;
}

TEST(JpegHuffmanTest, EntriesChangeNothing) {
  for (const int restart : {0, 1, 5, 64}) {
    const std::string what = concat("restart ", restart);
    expect_entries_change_nothing(write_jpeg(photograph(150, 210), {.restart = restart}), what);
    expect_entries_change_nothing(write_jpeg(photograph(90, 161, 1), {.restart = restart}), what);
    expect_entries_change_nothing(write_jpeg(noise(300, 250), {.quality = 98, .restart = restart}),
                                  what);
    expect_entries_change_nothing(
        write_jpeg(photograph(70, 300), {.horizontal = 1, .vertical = 1, .restart = restart}),
        what);
  }
}

/// Else the tests above would show nothing.
TEST(JpegHuffmanTest, EntriesAreUsed) {
  const std::string file = write_jpeg(photograph(150, 300));
  JpegPositions positions;
  const Found all = decode(file, true, 0, 0, 0, 0, &positions);
  for (JpegEntry& entry : positions.entries) entry.last_dc[0] ^= 64;
  const Found part = decode(file, true, 160, 100, 80, 20, &positions);
  EXPECT_NE(part.picture, decode(file, true, 160, 100, 80, 20).picture);
}

TEST(JpegHuffmanTest, AnOpenEndIsNoEntry) {
  const std::string file = write_jpeg(photograph(100, 300));
  JpegPositions positions;
  EXPECT_FALSE(
      decode(file.substr(0, file.size() / 2), true, 0, 0, 0, 0, &positions).warnings.empty());
  EXPECT_EQ(positions.known, 0);
}

TEST(JpegHuffmanTest, OtherKindsAreLeftToLibjpeg) {
  const Picture picture = photograph(40, 40);
  for (const JpegOptions& options :
       {JpegOptions{.progressive = true}, {.arithmetic = true}, {.separate_scans = true}})
    EXPECT_FALSE(decode(write_jpeg(picture, options)).took_over);
  EXPECT_TRUE(decode(write_jpeg(picture)).took_over);
}

TEST(JpegHuffmanTest, SaysOnceThatTheDataEndsOrIsDamaged) {
  const std::string file = write_jpeg(photograph(100, 100));
  for (std::size_t size = file.size() / 2; size < file.size() - 40; size += 37) {
    const Found found = decode(file.substr(0, size));
    EXPECT_EQ(found.warnings, std::vector<int>{JWRN_JPEG_EOF}) << size;
  }
  const std::string marked = file.substr(0, file.size() / 2) + "\xff\xd9";
  EXPECT_EQ(decode(marked).warnings, std::vector<int>{JWRN_HIT_MARKER});
  std::string other = write_jpeg(photograph(100, 100), {.restart = 7});
  other[other.find("\xff\xd1") + 1] = '\xd2';
  EXPECT_EQ(decode(other).warnings, std::vector<int>{JWRN_MUST_RESYNC});
}

}  // namespace
}  // namespace brigade
