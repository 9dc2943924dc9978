// Which channels of a file decode_image gives, by the parameter `channels`.

#include <gtest/gtest.h>

#include <brigade/text.h>
#include "tests/support/images/decode_test.h"

namespace brigade {
namespace {

using namespace testing_support;

using DecodeChannelsTest = DecodeTest;

TEST_F(DecodeChannelsTest, EveryChannelIsCutTurnedAndResizedAlike) {
  const std::pair<int, std::int64_t> kinds[] = {
      {PNG_COLOR_TYPE_GRAY, 1}, {PNG_COLOR_TYPE_GRAY_ALPHA, 2}, {PNG_COLOR_TYPE_RGB_ALPHA, 4}};
  for (const auto& [type, channels] : kinds)
    for (int orientation = 1; orientation <= 8; ++orientation) {
      const Picture picture = photograph(60, 90, channels);
      const std::string file = write_png(picture, {.color_type = type, .orientation = orientation});
      const SampleInfo info{.id = static_cast<std::uint64_t>(orientation)};
      for (const ParamTexts& params :
           std::vector<ParamTexts>{{{"size", "24"}, {"flip", "0.5"}},
                                   {{"size", "24"}, {"quality", "bilinear"}, {"flip", "0.5"}},
                                   {{"crop", "center"}, {"size", "80"}, {"flip", "1"}},
                                   {{"crop", "none"}, {"size", "0"}, {"resize", "30"}}}) {
        ParamTexts all = params;
        all.emplace_back("channels", concat(channels));
        const Picture found = decode(all, file, info);
        ASSERT_EQ(found.channels, channels);
        all.back().second = "all";
        EXPECT_EQ(decode(all, file, info), found);
        for (std::int64_t c = 0; c < channels; ++c) {
          const Picture one =
              decode(params, write_png(channel_of(picture, c), {.orientation = orientation}), info);
          ASSERT_EQ(channel_of(found, c), one) << c << " of " << channels << ", " << orientation;
        }
      }
    }
}

TEST_F(DecodeChannelsTest, AnotherNumberOfChannelsIsAnErrorOfTheFile) {
  const std::string rgb = write_png(photograph(8, 8));
  EXPECT_EQ(error_of(rgb, {{"channels", "4"}}),
            "it has 3 channels; `channels: 4` accepts only files with 4; write `channels: all` to "
            "accept any number, or `channels: 3` for RGB");
  const std::string gray = write_png(photograph(8, 8, 1), {.color_type = PNG_COLOR_TYPE_GRAY});
  EXPECT_TRUE(error_of(gray, {{"channels", "2"}}).starts_with("it has 1 channel; `channels: 2`"));
  EXPECT_EQ(error_of(gray, {{"channels", "1"}}), "no error");
  EXPECT_EQ(error_of(gray), "no error") << "3 is RGB of any file";
  const auto stage = open({{"channels", "all"}, {"size", "8"}});
  for (const auto& [file, channels] : {std::pair{rgb, 3}, {gray, 1}, {rgb, 3}}) {
    const std::string path = folder_.write("image", file);
    EXPECT_EQ(image_of(stage->process({bytes_tensor("path", path)}).value()).channels, channels);
  }
}

#ifdef BRIGADE_HAS_IMGCODECS
TEST_F(DecodeChannelsTest, ChannelsThatAreLeftOutAreSaidOnce) {
  std::string file("II*\0\x08\0\0\0\x0a\0", 10);  // 2 x 1 pixels of 5 channels
  const std::uint16_t tags[][2] = {{256, 2}, {257, 1}, {258, 8}, {259, 1},  {262, 1},
                                   {273, 0}, {277, 5}, {278, 1}, {279, 10}, {284, 1}};
  const auto pixels_at = static_cast<std::uint16_t>(10 + 12 * std::size(tags) + 4);
  for (const auto& [tag, value] : tags)
    for (const std::uint16_t number : {tag, std::uint16_t{3}, std::uint16_t{1}, std::uint16_t{0},
                                       tag == 273 ? pixels_at : value, std::uint16_t{0}})
      file.append({static_cast<char>(number), static_cast<char>(number >> 8)});
  file += std::string(4, '\0') + "abcdeABCDE";
  const std::string path = folder_.write("many.tif", file);
  const auto stage = open(kWhole);
  for (int i = 0; i < 2; ++i) {
    const Picture found = image_of(stage->process({bytes_tensor("path", path)}).value());
    EXPECT_EQ(std::string(found.bytes.begin(), found.bytes.end()), "abcABC");
  }
  EXPECT_EQ(
      stage->reports.lines,
      std::vector{path +
                  " has 2 channels besides its colors and alpha, and the output omits them; write "
                  "`channels: all` to read them. This message is not repeated for other files"});
  ParamTexts all = kWhole;
  all.emplace_back("channels", "5");
  const auto five = open(all);
  const Picture found = image_of(five->process({bytes_tensor("path", path)}).value());
  EXPECT_EQ(std::string(found.bytes.begin(), found.bytes.end()), "abcdeABCDE");
  EXPECT_EQ(five->reports.lines, std::vector<std::string>{});
}
#endif

}  // namespace
}  // namespace brigade
