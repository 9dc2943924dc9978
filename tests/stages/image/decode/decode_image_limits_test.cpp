// What a file may make decode_image take: as much as its pixels need and its length can hold.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <zlib.h>

#include <iostream>

#include "tests/support/data_limit.h"
#include "tests/support/images/decode_test.h"
#include "tests/support/message_of.h"

namespace brigade {
namespace {

using namespace testing_support;

class DecodeImageLimitsTest : public DecodeTest {
 protected:
  struct Decoder {
    std::unique_ptr<StageHarness> stage;
    std::string error_of(const std::string& file) const {
      return message_of(stage->process({bytes_tensor("encoded", file)}));
    }
  };
  Decoder decoder(const ParamTexts& params = {{"crop", "center"}, {"size", "4"}}) {
    return {open(params, {{"encoded", u8, {up_to(1 << 24)}}})};
  }
};

std::string big_endian(std::uint32_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 255);
  return out;
}

std::string png_chunk(const std::string& named) {
  const uLong sum =
      crc32(0, reinterpret_cast<const Bytef*>(named.data()), static_cast<uInt>(named.size()));
  return big_endian(static_cast<std::uint32_t>(named.size() - 4)) + named +
         big_endian(static_cast<std::uint32_t>(sum));
}

/// RGB of so many pixels, interlaced; its data are a few bytes.
std::string png_header(std::uint32_t side) {
  return "\x89PNG\r\n\x1a\n" +
         png_chunk("IHDR" + big_endian(side) + big_endian(side) + std::string("\x08\2\0\0\1", 5)) +
         png_chunk("IDATxx");
}

/// A JPEG file that says that it is larger than it is.
std::string jpeg_header(const JpegOptions& options, std::uint16_t side) {
  std::string file = write_jpeg(photograph(8, 8), options);
  const std::size_t frame = std::min(file.find("\xff\xc2"), file.find("\xff\xc0"));
  for (std::size_t i = 5; i < 9; i += 2) {
    file[frame + i] = static_cast<char>(side >> 8);
    file[frame + i + 1] = static_cast<char>(side & 255);
  }
  return file;
}

std::string solid_png(std::int64_t side) {
  const auto stride = static_cast<std::size_t>((side + 7) / 8);
  return write_png(side, side, std::vector<std::uint8_t>(stride * static_cast<std::size_t>(side)),
                   {.bits = 1, .color_type = PNG_COLOR_TYPE_GRAY, .interlaced = true});
}

TEST_F(DecodeImageLimitsTest, AFileThatIsTooShortForItsPixelsIsRefusedByItsHeader) {
  const std::string png = png_header(16'384);
  EXPECT_LT(png.size(), 50U);
  const std::string jpeg = jpeg_header({.progressive = true}, 16'000);
  const auto refuse = [&] {
    const Decoder wide = decoder({{"crop", "center"}, {"size", "4"}, {"pixels_max", "268435456"}});
    if (!kMemorySanitized) allow_private(16 << 20);  // before a pixel is read
    for (const std::string& file : {png, jpeg, jpeg_header({}, 16'000)}) {
      const std::string error = wide.error_of(file);
      if (error.find(" data ends too early: ") == error.npos) std::cerr << error;
    }
    std::exit(0);
  };
  EXPECT_EXIT(refuse(), testing::ExitedWithCode(0), "^$");
}

TEST_F(DecodeImageLimitsTest, AChunkThatIsNotReadTakesNoMemoryWhateverItSays) {
  std::string file = write_png(photograph(9, 9));
  file.insert(33, big_endian(1'700'000'000) + "tEXtSoftware");  // behind IHDR
  const auto read = [&] {
    std::cerr << decoder().error_of(file);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::exit(usage.ru_maxrss > 1'000'000);  // KiB
  };
  EXPECT_EXIT(read(), testing::ExitedWithCode(0), "the PNG data ends too early");
}

TEST_F(DecodeImageLimitsTest, PicturesOfOneColourAreNotRefused) {
  const Decoder small = decoder();
  EXPECT_EQ(small.error_of(solid_png(3000)), "no error");
  EXPECT_EQ(small.error_of(write_png(blank(1500, 1500))), "no error");
  for (const JpegOptions& options : {JpegOptions{.optimize = true},
                                     {.progressive = true},
                                     {.arithmetic = true},
                                     {.separate_scans = true}})
    EXPECT_EQ(small.error_of(write_jpeg(blank(2000, 2000), options)), "no error");
}

TEST_F(DecodeImageLimitsTest, PixelsMaxCountsWhatIsStored) {
  const Decoder few = decoder({{"crop", "center"}, {"size", "4"}, {"pixels_max", "600"}});
  for (const auto& file : {write_png(photograph(20, 30)), write_jpeg(photograph(20, 30))})
    EXPECT_EQ(few.error_of(file), "no error");
  for (const auto& file : {write_png(photograph(20, 31)), write_jpeg(photograph(20, 31))})
    EXPECT_EQ(few.error_of(file), "encoded image: it has 31 x 20 pixels; pixels_max is 600");
}

TEST_F(DecodeImageLimitsTest, TooLittleMemoryIsAnErrorOfTheSample) {
  if (kMemorySanitized) GTEST_SKIP() << "sanitizers have terabytes mapped";
  const std::string large = solid_png(5000), small = write_png(photograph(9, 9));
  const std::string coefficients = write_jpeg(blank(5000, 5000), {.progressive = true});
  const auto run = [&] {
    const Decoder center = decoder();
    center.error_of(small);
    allow_private(32 << 20);
    for (const std::string& file : {large, small, coefficients, small})
      std::cerr << center.error_of(file) << '\n';
    std::exit(0);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0),
              "^encoded image: not enough memory for its pixels; .*\nno error\nencoded image: the "
              "JPEG data cannot be read: Insufficient memory.*\nno error\n$");
}

TEST_F(DecodeImageLimitsTest, ALargePictureIsNoBurdenAfterwards) {
  if (kMemorySanitized) GTEST_SKIP() << "sanitizers keep memory that was freed";
  const Decoder whole = decoder({{"crop", "none"}, {"size", "4"}});
  const std::string small = write_png(photograph(9, 9)), large = solid_png(5000);
  whole.error_of(small);
  const std::uint64_t before = private_bytes();
  EXPECT_EQ(whole.error_of(large), "no error");  // 75 MB of pixels
  EXPECT_EQ(whole.error_of(write_jpeg(blank(5000, 5000), {.progressive = true})), "no error");
  EXPECT_LT(private_bytes(), before + (32 << 20));
}

}  // namespace
}  // namespace brigade
