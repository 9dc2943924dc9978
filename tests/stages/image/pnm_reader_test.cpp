#include <gtest/gtest.h>

#include "stages/image/image_reader.h"
#include "tests/support/pillow_digests.h"

namespace brigade {
namespace {

using namespace testing_support;

std::string error_of(const std::string& file) {
  const auto reader = make_pnm_reader();
  const auto header = reader->open(file);
  if (!header) return header.error().message;
  const auto pixels = reader->read({0, 0, header->height, header->width});
  return pixels ? "no error" : pixels.error().message;
}

Picture read_all(const std::string& file) {
  const auto reader = make_pnm_reader();
  const ImageHeader header = reader->open(file).value();
  return picture_of(reader->read({0, 0, header.height, header.width}).value());
}

/// Gray levels of one row.
std::vector<std::uint8_t> levels(const std::string& file) {
  const Picture picture = read_all(file);
  std::vector<std::uint8_t> out;
  for (std::int64_t x = 0; x < picture.width; ++x) out.push_back(picture.at(0, x, 1));
  return out;
}

using Levels = std::vector<std::uint8_t>;

TEST(PnmReaderTest, TextsBytesAndBitsOfAnyWhite) {
  EXPECT_EQ(levels("P1\n# bits, 1 is black\n4 1\n1 0\n01"), (Levels{0, 255, 255, 0}));
  EXPECT_EQ(levels("P2 3 1 100 0 50\n#\n100"), (Levels{0, 128, 255}));
  EXPECT_EQ(levels("P4 10 1\n\x0f\x40"), (Levels{255, 255, 255, 255, 0, 0, 0, 0, 255, 0}));
  EXPECT_EQ(levels(std::string("P5 2 1 65535\n\x80\xff\x12\x34", 17)), (Levels{0x80, 0x12}));
  EXPECT_EQ(read_all("P3 1 1 15 15 0 3").bytes, (Levels{255, 0, 51}));
}

TEST(PnmReaderTest, LevelsAreThoseOfPillow) {
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

TEST(PnmReaderTest, ABoxIsThatPartOfIt) {
  for (const std::string& file : {std::string("P5 4 3 255\nabcdefghijkl"),
                                  std::string("P2 4 3 99 1 2 3 4 5 6 7 8 9 10 11 12")}) {
    const auto reader = make_pnm_reader();
    const Picture all = read_all(file);
    ASSERT_TRUE(reader->open(file));
    EXPECT_EQ(picture_of(reader->read({1, 2, 2, 1}).value()), part_of(all, 1, 2, 2, 1));
  }
}

TEST(PnmReaderTest, SaysWhatIsWrong) {
  EXPECT_EQ(error_of("P5 4"), "the PNM data ends too early");
  EXPECT_EQ(error_of("P5 4 3 255\nabc"),
            "the PNM data ends too early: 14 bytes cannot hold 4 x 3 pixels");
  EXPECT_EQ(error_of("P2 2 1 9 1  "), "the PNM data ends too early");
  EXPECT_EQ(error_of("P5 0 3 255\nabc"), "the PNM data cannot be read: a size in its header is 0");
  EXPECT_EQ(error_of("P5 1 1 70000\nabc"), "the PNM data cannot be read: its levels go to 70000");
  EXPECT_EQ(error_of("P5 1 1 9\na"), "the PNM data cannot be read: a level is 97, at most 9");
  EXPECT_EQ(error_of("P5 x"), "the PNM data cannot be read: expected a number");
  EXPECT_EQ(error_of("P5 99999999999 1 1\n"), "the PNM data cannot be read: a number is too large");
  EXPECT_EQ(error_of("P1 2 1 12"), "the PNM data cannot be read: expected 0 or 1");
}

}  // namespace
}  // namespace brigade
