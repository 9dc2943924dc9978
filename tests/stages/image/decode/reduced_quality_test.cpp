// `quality: reduced`: a JPEG file is decoded at a part of its size where the output allows it.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include <brigade/text.h>
#include "tests/support/images/decode_test.h"
#include "tests/support/images/exact_resize.h"

namespace brigade {
namespace {

using namespace testing_support;

/// Brighter to the right and to the bottom: what is read at another place has another value, and
/// the mean of a block is its middle.
Picture ramp(std::int64_t height, std::int64_t width) {
  Picture out = blank(height, width);
  const auto share = [](std::int64_t i, std::int64_t of) {
    return static_cast<double>(i) / static_cast<double>(of);
  };
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      out.at(y, x, 0) = static_cast<std::uint8_t>(std::lround(255 * share(x, width)));
      out.at(y, x, 1) = static_cast<std::uint8_t>(std::lround(255 * share(y, height)));
      out.at(y, x, 2) = 128;
    }
  return out;
}

double largest_difference(const Picture& a, const Picture& b) {
  return difference(a, std::vector<double>(b.bytes.begin(), b.bytes.end())).largest;
}

class ReducedQualityTest : public DecodeTest {
 protected:
  Picture decode_at(const std::string& quality, ParamTexts params, const std::string& file,
                    std::uint64_t id = 0) {
    params.emplace_back("quality", quality);
    return decode(params, file, {.id = id});
  }
};

TEST_F(ReducedQualityTest, PixelsStayInTheirPlaces) {
  // Sides that no reduction divides; a pixel of 1/8 is 15 levels wide.
  const Picture picture = ramp(131, 137);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const std::string file = write_jpeg(
        picture, {.quality = 100, .horizontal = 1, .vertical = 1, .orientation = orientation});
    for (const std::uint64_t id : {1, 2, 3, 4})
      for (const char* const size : {"5", "9", "20"}) {
        const ParamTexts params = {{"size", size}, {"scale", "[0.5, 1]"}, {"flip", "0.5"}};
        EXPECT_LE(largest_difference(decode_at("reduced", params, file, id),
                                     decode_at("antialias", params, file, id)),
                  3)
            << orientation << " " << size << " " << id;
      }
  }
}

TEST_F(ReducedQualityTest, TheGapDecidesByHowMuch) {
  const std::string file = write_jpeg(photograph(200, 200));
  const auto decode_with = [&](const std::string& quality, const std::string& gap) {
    ParamTexts params = {{"crop", "none"}, {"size", "40"}};
    if (!gap.empty()) params.emplace_back("reducing_gap", gap);
    return decode_at(quality, params, file);
  };
  const Picture whole = decode_with("antialias", "");
  EXPECT_EQ(decode_with("reduced", ""), whole);  // 5 pixels to one: not twice 3
  EXPECT_EQ(decode_with("reduced", "2.6"), whole);
  const Picture half = decode_with("reduced", "2.5");
  EXPECT_NE(half, whole);
  EXPECT_EQ(decode_with("reduced", "1.3"), half);
  EXPECT_NE(decode_with("reduced", "1.25"), half);
}

TEST_F(ReducedQualityTest, OtherFilesAreReadWhole) {
  const std::string file = write_png(photograph(200, 200));
  const ParamTexts params = {{"crop", "none"}, {"size", "10"}};
  EXPECT_EQ(decode_at("reduced", params, file), decode_at("antialias", params, file));
}

}  // namespace
}  // namespace brigade
