// What Pillow makes of small pictures of many kinds: tests/golden/images, written by
// tools/image_goldens.py. Everything that decode_image does with a cut, step by step.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "stages/image/decode/exif.h"
#include "stages/image/decode/image_reader.h"
#include "tests/support/images/test_images.h"

namespace brigade {
namespace {

using namespace testing_support;

struct Case {
  std::string file, expected;
  std::int64_t x = 0, y = 0, width = 0, height = 0, side = 0;
};

std::string read_file(const std::string& name) {
  std::ifstream file(std::string(BRIGADE_SOURCE_DIR) + "/tests/golden/images/" + name,
                     std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

std::vector<Case> read_cases() {
  std::vector<Case> cases;
  std::istringstream lines(read_file("cases.txt"));
  for (Case c; lines >> c.file >> c.x >> c.y >> c.width >> c.height >> c.side >> c.expected;)
    cases.push_back(c);
  return cases;
}

Picture cut(const Case& c, bool antialias) {
  const std::string bytes = read_file(c.file);
  const auto reader = is_jpeg(bytes) ? make_jpeg_reader() : make_png_reader();
  const ImageHeader header = reader->open(bytes).value();
  AxisWeights rows, columns;
  rows.prepare({c.height, c.side, 0, c.side}, antialias);
  columns.prepare({c.width, c.side, 0, c.side}, antialias);
  const Box box{c.y + rows.first_needed(), c.x + columns.first_needed(),
                rows.end_needed() - rows.first_needed(),
                columns.end_needed() - columns.first_needed()};
  const Box stored = stored_box(box, header.orientation, header.height, header.width);
  PictureBytes upright;
  const Pixels pixels = turn_upright(reader->read(stored).value(), header.orientation, upright);
  Picture out = blank(c.side, c.side);
  Resampler().run(pixels, rows, columns, out.bytes.data(), c.side * 3);
  return out;
}

double share_within_one(const Picture& a, const Picture& b) {
  double within = 0;
  for (std::size_t i = 0; i < a.bytes.size(); ++i) within += std::abs(a.bytes[i] - b.bytes[i]) <= 1;
  return within / static_cast<double>(a.bytes.size());
}

TEST(ImageGoldensTest, KindsOfFilesAreCutAndResizedAsPillowDoesIt) {
  const std::vector<Case> cases = read_cases();
  ASSERT_EQ(cases.size(), 21U);
  const auto reader = make_png_reader();
  int seen_without_antialias = 0;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.file + " as " + c.expected);
    const std::string bytes = read_file(c.expected);
    ASSERT_TRUE(reader->open(bytes));
    const Picture expected = picture_of(reader->read({0, 0, c.side, c.side}).value());
    EXPECT_GE(share_within_one(cut(c, true), expected), 0.999);
    seen_without_antialias += share_within_one(cut(c, false), expected) < 0.9;
  }
  EXPECT_GE(seen_without_antialias, 10);  // the comparison sees a filter that is another
}

}  // namespace
}  // namespace brigade
