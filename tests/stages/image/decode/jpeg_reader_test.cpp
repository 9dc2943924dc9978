
#include "tests/support/images/plain_jpeg.h"
#include "tests/support/images/reader_test.h"

namespace brigade {
namespace {

using namespace testing_support;

class JpegReaderTest : public ReaderTest {
 protected:
  JpegReaderTest() : ReaderTest(make_jpeg_reader()) {}

  Picture read_reduced(const std::string& file, const Box& box, int reduction) {
    EXPECT_TRUE(reader_->open(file));
    EXPECT_EQ(reader_->reduce(reduction), reduction);
    return picture_of(reader_->read(box).value());
  }

  /// Boxes anywhere are those parts of a full decode, which is libjpeg's, at each of its sizes.
  void expect_parts(const std::string& file, const std::string& options) {
    EXPECT_EQ(read_all(file), decode_plainly(file).picture) << options;
    for (const int reduction : {1, 2, 4, 8})
      expect_parts(file, reduction, concat(options, " / ", reduction));
  }

  void expect_parts(const std::string& file, int reduction, const std::string& options) {
    const Picture full = decode_plainly(file, static_cast<unsigned>(reduction)).picture;
    Philox random(1, 2, 3, 4);
    const auto draw = [&](std::int64_t n) {
      return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n)));
    };
    for (int i = 0; i < 25; ++i) {
      const std::int64_t height = 1 + draw(full.height), width = 1 + draw(full.width);
      const Box box{draw(full.height + 1 - height), draw(full.width + 1 - width), height, width};
      ASSERT_EQ(read_reduced(file, box, reduction),
                part_of(full, box.y, box.x, box.height, box.width))
          << options << ": " << box.y << " " << box.x << " " << box.height << " " << box.width;
    }
  }
};

/// How far a decoded picture may be from what was encoded.
double mean_difference(const Picture& a, const Picture& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.bytes.size(); ++i) sum += std::abs(a.bytes[i] - b.bytes[i]);
  return sum / static_cast<double>(a.bytes.size());
}

TEST_F(JpegReaderTest, AnyBoxIsThatPartOfAFullDecodeAsLibjpegDoesIt) {
  const Picture picture = photograph(131, 173);
  std::vector<JpegOptions> kinds = {{.arithmetic = true},
                                    {.optimize = true},
                                    {.separate_scans = true},
                                    {.restart = 3},
                                    {.progressive = true, .restart = 3}};
  for (const auto& [horizontal, vertical] :
       {std::pair{2, 2}, std::pair{2, 1}, std::pair{1, 1}, std::pair{1, 2}, std::pair{4, 1}}) {
    for (const bool progressive : {false, true})
      kinds.push_back({.horizontal = horizontal, .vertical = vertical, .progressive = progressive});
    // libjpeg guesses the bits that are missing from the blocks around.
    kinds.push_back({.horizontal = horizontal, .vertical = vertical, .unrefined = true});
  }
  for (const JpegOptions& options : kinds)
    expect_parts(write_jpeg(picture, options),
                 concat(options.horizontal, options.vertical, options.progressive));
  expect_parts(write_jpeg(photograph(90, 120, 1)), "gray");
}

/// With its last scan so many times more.
std::string with_scans(const std::string& file, int more) {
  const std::size_t last = file.rfind("\xff\xda");
  const std::string scan = file.substr(last, file.size() - 2 - last);
  std::string out = file.substr(0, last);
  for (int i = 0; i <= more; ++i) out += scan;
  return out + "\xff\xd9";
}

TEST_F(JpegReaderTest, ScansThatAddNothingAreCounted) {
  static_assert(jpeg_scans_max(0, false) == 500 && jpeg_scans_max(1'000'000, false) == 500);
  static_assert(jpeg_scans_max(20'000'000, false) == 107 && jpeg_scans_max(1 << 28, false) == 32);
  static_assert(jpeg_scans_max(0, true) == 500 && jpeg_scans_max(1'000'000, true) == 268);
  static_assert(jpeg_scans_max(20'000'000, true) == 18);
  const std::string progressive = write_jpeg(blank(50, 70), {.progressive = true});
  const std::string sequential = write_jpeg(blank(50, 70), {.separate_scans = true});
  for (const std::string& file : {progressive, sequential}) {
    EXPECT_EQ(error_of(with_scans(file, 480)), "no error");
    EXPECT_EQ(error_of(with_scans(file, 600)),
              "the JPEG data cannot be read: more than 500 scans of 70 x 50 pixels");
  }
  const std::string large = write_jpeg(blank(4000, 5000), {.progressive = true});
  EXPECT_EQ(error_of(with_scans(large, 300)),
            "the JPEG data cannot be read: more than 107 scans of 5000 x 4000 pixels");
  const std::string codes = write_jpeg(blank(400, 5000), {.progressive = true, .arithmetic = true});
  EXPECT_EQ(error_of(with_scans(codes, 300)),
            "the JPEG data cannot be read: more than 134 scans of 5000 x 400 pixels");
}

/// Decoded by our own Huffman decoder, by libjpeg's, and by its progressive one.
const JpegOptions kWithRestarts[] = {
    {.restart = 2}, {.separate_scans = true, .restart = 2}, {.progressive = true, .restart = 2}};

TEST_F(JpegReaderTest, BytesBeforeARestartMarkerArePassedOverAndAnotherMarkerIsDamage) {
  for (const JpegOptions& options : kWithRestarts) {
    const std::string file = write_jpeg(photograph(60, 60), options);
    std::string longer = file, other = file;
    longer.insert(longer.find("\xff\xd1"), "more bytes than a code has, and no marker");
    EXPECT_EQ(read_all(longer), read_all(file));
    other[other.find("\xff\xd1") + 1] = '\xd5';
    EXPECT_EQ(error_of(other),
              "the JPEG data cannot be read: Corrupt JPEG data: found marker 0xd5 instead of RST1");
  }
}

TEST_F(JpegReaderTest, ACodeThatDoesNotExistIsDamageWhoeverDecodes) {
  for (const JpegOptions& options : {JpegOptions{.quality = 100, .horizontal = 1, .vertical = 1},
                                     {.quality = 100, .separate_scans = true}}) {
    std::string file = write_jpeg(photograph(90, 90), options);
    // In the standard tables sixteen bits of one are no code; a stuffed zero follows each 0xff.
    const std::size_t middle = file.find("\xff\xda") + 1000;
    for (std::size_t i = middle; i < middle + 32; i += 2) {
      file[i] = '\xff';
      file[i + 1] = '\0';
    }
    EXPECT_EQ(error_of(file), "the JPEG data cannot be read: Corrupt JPEG data: bad Huffman code");
  }
}

TEST_F(JpegReaderTest, CmykIsInvertedWithAdobesMarkerAndWithout) {
  Picture light = blank(16, 16, 4), rgb = blank(16, 16);
  for (std::int64_t y = 0; y < 16; ++y)
    for (std::int64_t x = 0; x < 16; ++x) {
      const int inks[4] = {200, 50, 0, 30};
      for (int c = 0; c < 4; ++c) light.at(y, x, c) = static_cast<std::uint8_t>(255 - inks[c]);
      for (int c = 0; c < 3; ++c)
        rgb.at(y, x, c) = static_cast<std::uint8_t>((255 - inks[c]) * (255 - 30) / 255);
    }
  EXPECT_LT(mean_difference(read_all(write_jpeg(light, {.quality = 100})), rgb), 2);
  for (const bool ycck : {false, true}) {
    const JpegOptions options{.quality = 100, .adobe_cmyk = true, .ycck = ycck};
    EXPECT_LT(mean_difference(read_all(write_jpeg(light, options)), rgb), 2) << ycck;
  }
}

TEST_F(JpegReaderTest, AllChannelsAreGrayRgbOrInks) {
  for (const std::int64_t channels : {1, 3}) {
    const std::string file = write_jpeg(photograph(40, 50, channels));
    const Picture rgb = read_all(file), all = read_all(file, Channels::stored);
    EXPECT_EQ(all.channels, channels);
    EXPECT_EQ(channels == 1 ? channel_of(all, 0) : all, rgb);
    EXPECT_EQ(read(file, {9, 20, 11, 13}, Channels::stored), part_of(all, 9, 20, 11, 13));
  }
  const Picture light = photograph(40, 50, 4);  // inks as Adobe's programs write them
  const Picture all =
      read_all(write_jpeg(light, {.quality = 100, .adobe_cmyk = true}), Channels::stored);
  Picture inks = light;
  for (std::uint8_t& ink : inks.bytes) ink = static_cast<std::uint8_t>(255 - ink);
  EXPECT_LT(mean_difference(all, inks), 2);
}

TEST_F(JpegReaderTest, LosslessJpegIsRefusedByName) {
  std::string file = write_jpeg(photograph(20, 30));
  file[file.find("\xff\xc0") + 1] = '\xc3';
  const std::string error = error_of(file);
  EXPECT_TRUE(error.starts_with("it is a lossless JPEG file (SOF3), which libjpeg-turbo "))
      << error;
}

TEST_F(JpegReaderTest, TheHeaderSaysSizeAndOrientation) {
  const std::string file = write_jpeg(photograph(20, 30), {.orientation = 6});
  const ImageHeader header = reader_->open(file).value();
  EXPECT_EQ(header.height, 20);
  EXPECT_EQ(header.width, 30);
  EXPECT_EQ(header.orientation, 6);
}

TEST_F(JpegReaderTest, SaysThatDataEndsEarlyOrIsDamagedAndReadsTheNextFile) {
  const std::string file = write_jpeg(photograph(200, 200));
  for (const std::size_t size : {std::size_t{4}, std::size_t{300}, file.size() / 2}) {
    EXPECT_EQ(error_of(file.substr(0, size)), "the JPEG data ends too early") << size;
    EXPECT_EQ(error_of(file), "no error");
  }
  std::string damaged = file;
  for (std::size_t i = file.size() / 2; i < file.size() / 2 + 64; ++i) damaged[i] = '\xff';
  for (const std::string& bad : {damaged, std::string("\xff\xd8\xff no JPEG at all")})
    EXPECT_TRUE(error_of(bad).starts_with("the JPEG data ")) << error_of(bad);
}

TEST_F(JpegReaderTest, NothingIsLeftOfTheFileBefore) {
  const std::string file = write_jpeg(photograph(40, 40), {.quality = 30});
  std::string without = write_jpeg(photograph(40, 40), {.quality = 95});
  const std::size_t tables = without.find("\xff\xdb");
  without[tables + 1] = '\xec';  // quantization tables become a segment that is passed over
  const std::string alone = error_of(without);
  EXPECT_TRUE(alone.starts_with("the JPEG data cannot be read: Quantization table")) << alone;
  EXPECT_EQ(error_of(file), "no error");
  EXPECT_EQ(error_of(without), alone);
}

TEST_F(JpegReaderTest, RemarksAboutTheFileAreNoDamage) {
  std::string file = write_jpeg(photograph(40, 40));
  file.insert(20, 5, '\0');  // after the first segment; libjpeg: extraneous bytes before marker
  EXPECT_EQ(error_of(file), "no error");
}

}  // namespace
}  // namespace brigade
