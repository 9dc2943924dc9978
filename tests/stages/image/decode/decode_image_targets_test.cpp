// What belongs to a picture moves with the cut of decode_image.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/support/images/decode_test.h"
#include "tests/support/message_of.h"

namespace brigade {
namespace {

using namespace testing_support;
using testing::ElementsAre;

/// Of 60 x 90 pixels, black, but white in the box that ends in column 50 and row 50.
constexpr std::array<float, 4> kWhiteBox = {20, 10, 50, 50};

Picture with_white_box() {
  Picture picture = blank(60, 90);
  for (std::int64_t y = 10; y < 50; ++y)
    for (std::int64_t x = 20; x < 50; ++x)
      for (std::int64_t c = 0; c < 3; ++c) picture.at(y, x, c) = 255;
  return picture;
}

std::vector<std::uint8_t> sevens() {
  std::vector<std::uint8_t> classes(60 * 90);
  for (std::size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<std::uint8_t>(i % 7);
  return classes;
}

/// Of a sample; those that no test is about are empty.
struct Annotations {
  std::vector<float> boxes;
  std::vector<std::int64_t> labels = {};
  std::vector<float> joints = {};
};

class DecodedTargetsTest : public DecodeTest {
 protected:
  void open_with(ParamTexts params, const std::string& targets) {
    params.insert(params.end(), {{"targets", targets}, {"mask", "seg_png"}, {"mask_fill", "255"}});
    const Dim bytes = up_to(1 << 20);
    stage_ = open(std::move(params), {{"encoded", u8, {bytes}},
                                      {"seg_png", u8, {bytes}},
                                      {"classes", u8, {60, 90}},
                                      {"boxes", f32, {up_to(9), 4}},
                                      {"label", i64, {up_to(9)}},
                                      {"joints", f32, {up_to(9), 3}}});
  }

  Result<HarnessCall> process(const std::string& file, const Annotations& with,
                              std::uint64_t id = 0,
                              const std::vector<std::uint8_t>& mask = sevens()) {
    const auto rows = [](std::size_t numbers, std::size_t columns) {
      return static_cast<std::int64_t>(numbers / columns);
    };
    return stage_->process(
        {bytes_tensor("encoded", file),
         bytes_tensor("seg_png", write_png(60, 90, mask, {.color_type = PNG_COLOR_TYPE_GRAY})),
         host_tensor("classes", {60, 90}, sevens()),
         host_tensor("boxes", {rows(with.boxes.size(), 4), 4}, with.boxes),
         host_tensor("label", {rows(with.labels.size(), 1)}, with.labels),
         host_tensor("joints", {rows(with.joints.size(), 3), 3}, with.joints)},
        {.id = id});
  }

  std::unique_ptr<StageHarness> stage_;
};

/// Of a mask that is 1 where the picture was white: pixels that are black, but 1, or white, but 0.
/// At the edges the filter mixes.
int apart_from_mask(const HostTensor& image, const HostTensor& mask) {
  const auto levels = image.as<std::uint8_t>(), numbers = mask.as<std::uint8_t>();
  int apart = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    apart += (levels[3 * i] == 0 && numbers[i] == 1) || (levels[3 * i] == 255 && numbers[i] == 0);
  return apart;
}

/// Pixels that lie 2 pixels inside of the box and are white; -1 where one inside is not, or one as
/// far outside is.
int white_inside(const HostTensor& image, const std::array<float, 4>& box) {
  const std::vector<std::uint8_t> levels = image.as<std::uint8_t>();
  const std::int64_t width = image.shape[1];
  int inside = 0;
  for (std::int64_t y = 0; y < image.shape[0]; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const float row = static_cast<float>(y) + 0.5F;
      const float column = static_cast<float>(x) + 0.5F;
      const float outside =
          std::max({box[0] - column, column - box[2], box[1] - row, row - box[3]});
      const int level = levels[static_cast<std::size_t>((y * width + x) * 3)];
      if ((outside < -2 && level < 250) || (outside > 2 && level > 5)) return -1;
      inside += outside < -2 ? 1 : 0;
    }
  return inside;
}

const ParamTexts kTargetCuts[] = {
    {{"size", "48"}, {"flip", "0.5"}},
    {{"crop", "center"}, {"size", "30"}, {"resize", "40"}},
    {{"crop", "center"}, {"size", "100"}, {"flip", "1"}},
    {{"crop", "none"}, {"size", "48"}, {"flip", "0.5"}},
    {{"crop", "none"}, {"size", "0"}, {"resize", "31"}, {"flip", "1"}}};

TEST_F(DecodedTargetsTest, AreWhereTheirPixelsAre) {
  const Picture picture = with_white_box();
  const std::string file = write_png(picture);
  std::vector<std::uint8_t> mask;
  for (std::size_t i = 0; i < picture.bytes.size(); i += 3) mask.push_back(picture.bytes[i] / 255);
  const std::vector<float> middle = {35, 30, 2};
  int inside = 0, seen = 0, hidden = 0;
  for (const ParamTexts& cut : kTargetCuts) {
    const auto alone = open(cut, {{"encoded", u8, {up_to(1 << 20)}}});
    open_with(cut, "[boxes, {keypoints: {name: joints}}]");
    for (std::uint64_t id = 0; id < 20; ++id) {
      const Annotations white{{kWhiteBox.begin(), kWhiteBox.end()}, {}, middle};
      const auto call = process(file, white, id, mask).value();
      const HostTensor& image = call["image"];
      EXPECT_EQ(image, alone->process({bytes_tensor("encoded", file)}, {.id = id}).value()["image"])
          << "what is drawn stays";
      EXPECT_EQ(apart_from_mask(image, call["mask"]), 0) << id;
      const auto boxes = call["boxes"].as<float>();
      std::array<float, 4> box{};  // nothing is white
      std::copy(boxes.begin(), boxes.end(), box.begin());
      const int found = white_inside(image, box);
      EXPECT_GE(found, 0) << id;
      inside += found;
      const auto joint = call["joints"].as<float>();
      (joint[2] > 0 ? seen : hidden) += 1;
      if (joint[2] == 0) continue;
      const auto at = [&](float place, std::int64_t side) {
        return std::min(static_cast<std::int64_t>(place), side - 1);
      };
      const std::int64_t pixel =
          at(joint[1], image.shape[0]) * image.shape[1] + at(joint[0], image.shape[1]);
      EXPECT_EQ(image.as<std::uint8_t>()[static_cast<std::size_t>(pixel * 3)], 255) << id;
    }
  }
  EXPECT_GT(inside, 1000);
  EXPECT_GT(seen, 80);
  EXPECT_GT(hidden, 0);
}

TEST_F(DecodedTargetsTest, AreCutAndLeftOut) {
  // Resized by a half, then the rows 5 .. 25 and the columns 12 .. 32, then mirrored.
  open_with({{"crop", "center"}, {"resize", "30"}, {"size", "20"}, {"flip", "1"}},
            "[{boxes: {format: xywh, share_min: 0.2, with: [label]}}, {keypoints: "
            "{name: joints}}, {mask: {name: classes}}]");
  const auto call =
      process(write_png(with_white_box()), {{20, 10, 40, 40, 0, 0, 20, 20, 0, 0, 30, 60},
                                            {7, 8, 9},
                                            {40, 30, 2, 10, 30, 2, 1, 1, 0}})
          .value();
  EXPECT_THAT(call["boxes"].as<float>(), ElementsAre(2, 0, 18, 20));
  EXPECT_THAT(call["label"].as<std::int64_t>(), ElementsAre(7));
  EXPECT_THAT(call["joints"].as<float>(), ElementsAre(12, 10, 2, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(call["classes"].bytes, call["mask"].bytes) << "a mask that was decoded before";
}

TEST_F(DecodedTargetsTest, AreShiftedByABorder) {
  open_with({{"crop", "center"}, {"size", "100"}},
            "[boxes, {mask: {name: classes, "
            "fill: 255}}]");
  const auto call =
      process(write_png(with_white_box()), {{kWhiteBox.begin(), kWhiteBox.end()}}).value();
  EXPECT_THAT(call["boxes"].as<float>(), ElementsAre(25, 30, 55, 70));
  EXPECT_EQ(call["classes"].bytes, call["mask"].bytes);
}

TEST_F(DecodedTargetsTest, AreAboutTheUprightPicture) {
  open_with({{"crop", "none"}, {"size", "0"}}, "[boxes]");
  const auto turned = write_jpeg(photograph(90, 60), {.orientation = 6});
  EXPECT_THAT(process(turned, {{60, 0, 90, 60}}).value()["boxes"].as<float>(),
              ElementsAre(60, 0, 90, 60));
  EXPECT_EQ(message_of(process(turned, {{0, 60, 60, 90}})),
            "encoded image: boxes, row 0: [0, 60, 60, 90] is outside its image of 60 x 90 pixels; "
            "give boxes in pixels, in the format of `format:`");
}

TEST_F(DecodedTargetsTest, AMaskOfAnotherSizeIsAnErrorOfItsSample) {
  open_with({{"size", "32"}}, "[{mask: {name: classes}}]");
  EXPECT_EQ(message_of(process(write_png(blank(50, 90)), {})),
            "encoded image: classes has 60 x 90 pixels, its image has 50 x 90; resize one of them");
}

}  // namespace
}  // namespace brigade
