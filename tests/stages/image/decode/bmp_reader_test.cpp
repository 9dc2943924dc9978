#include "stages/image/decode/exif.h"
#include "tests/support/file_text.h"
#include "tests/support/images/bmp_file.h"
#include "tests/support/images/reader_test.h"
#include "tests/support/word_for_word.h"

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

/// BITS [core] [from_top] [MASK MASK MASK]
BmpOptions options_of(const std::string& text) {
  BmpOptions out{.bits = std::stoi(text)};
  for (const std::string& word : pieces(parted(text, " ").second, " "))
    if (word == "core")
      out.core = true;
    else if (word == "from_top")
      out.from_top = true;
    else
      out.masks.push_back(static_cast<std::uint32_t>(std::stoul(word, nullptr, 16)));
  return out;
}

/// Every one of the levels up to this.
std::string levels_up_to(int white) {
  std::string file = concat("P6\n", 17, " ", 20, "\n", white, "\n");
  for (int i = 0; i < 17 * 20 * 3; ++i) file += static_cast<char>(i % (white + 1));
  return file;
}

/// bmp OPTIONS [| AT BYTES | cut BYTES], pnm TEXT, levels WHITE, other TEXT
struct Readers {
  std::unique_ptr<ImageReader> bmp = make_bmp_reader(), pnm = make_pnm_reader(),
                               other = make_other_reader();

  std::string answer(std::string_view line) {
    const auto [verb, what] = parted(line, " ");
    if (verb == "pnm") return all_that_is_read(*pnm, unescaped(what), "");
    if (verb == "other") return message_of(other->open(unescaped(what))) + "\n";
    if (verb == "levels")
      return all_that_is_read(*pnm, levels_up_to(std::stoi(what)), concat("white_", what, ".ppm"));
    const auto [options, changes] = parted(what, " | ");
    std::string file = write(options_of(options));
    for (const std::string& change : pieces(changes)) {
      const auto [at, text] = parted(change, " ");
      const std::string bytes = unescaped(text);
      if (at == "cut")
        file.resize(file.size() - std::stoul(text));
      else
        file.replace(std::stoul(at), bytes.size(), bytes);
    }
    const std::string name = concat("bits_", replaced(options, " ", "_"), ".bmp");
    return all_that_is_read(*bmp, file, changes.empty() ? name : "");
  }
};

TEST(ReadersTest, ReadWhatPillowReadsOrSayWhyNot) {
  expect_session<Readers>("readers/bmp_and_pnm.txt");
}

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

#ifdef BRIGADE_HAS_IMGCODECS

// Pillow wrote these files, and has read them.
TEST_F(OtherReaderTest, FilesOfEveryFormatAreWhatPillowReads) {
  int files = 0;
  for (const auto& [name, digest] : pillow_digests()) {
    const std::string path = concat(BRIGADE_SOURCE_DIR, "/tests/golden/images/", name);
    if (!std::filesystem::exists(path)) continue;
    const std::string file = file_text(path);
    SCOPED_TRACE(name);
    ++files;
    if (is_png(file)) reader_ = make_png_reader();
    const Picture all = read_all(file);
    const auto header = reader_->open(file).value();
    PictureBytes memory;
    EXPECT_EQ(digest_of(picture_of(turn_upright(all.pixels(), header.orientation, memory))),
              digest);
    EXPECT_EQ(read(file, {7, 5, 11, 13}), part_of(all, 7, 5, 11, 13));
    reader_ = make_other_reader();
  }
  EXPECT_GE(files, 33);
}

#else

TEST_F(OtherReaderTest, SaysThatTheModuleIsMissing) {
  const std::string error = error_of(std::string("II*\0", 4));
  EXPECT_TRUE(error.starts_with("cannot open the module that reads WebP and TIFF ")) << error;
}

#endif

}  // namespace
}  // namespace brigade
