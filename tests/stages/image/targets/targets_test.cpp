// What belongs to a picture moves with it. python/tests/augment_targets_test.py compares masks with
// torchvision's, and keypoints with where dots in the picture go.

#include "stages/image/targets/targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <brigade/harness.h>
#include "stages/image/image_stages.h"
#include "tests/support/only_type.h"

namespace brigade {
namespace {

using namespace testing_support;
using testing::ElementsAre;
using testing::HasSubstr;

Result<std::unique_ptr<StageHarness>> open_with(const std::string& operations,
                                                const std::string& targets, Ports inputs) {
  inputs.tensors.insert(inputs.tensors.begin(), {"image", u8, {4, 6, 1}});
  return StageHarness::open(
      only_type<add_augment>(),
      {.params = {{"operations", operations}, {"targets", targets}}, .inputs = std::move(inputs)});
}

std::string mistake(const std::string& operations, const std::string& targets,
                    const Ports& inputs) {
  const auto stage = open_with(operations, targets, inputs);
  return stage ? "none" : stage.error().message;
}

HostTensor picture() {
  std::vector<std::uint8_t> levels(24);
  for (std::size_t i = 0; i < levels.size(); ++i) levels[i] = static_cast<std::uint8_t>(i);
  return host_tensor("image", {4, 6, 1}, levels);
}

HostTensor floats(const std::string& name, const Shape& shape, const std::vector<float>& values) {
  return host_tensor(name, shape, values);
}

// --- masks ----------------------------------------------------------------------------------

constexpr const char* kMoves =
    "[{pad: {padding: [1, 0, 2, 1], fill: 77}}, {random_horizontal_flip: {p: 1}}, "
    "{center_crop: {size: [3, 4]}}, {random_vertical_flip: {p: 1}}, {random_affine: {degrees: "
    "[60, 60], fill: 77}}]";

TEST(MaskTest, EachPixelGoesWhereThePictureSGoes) {
  // A picture whose levels are those of the mask: looked up by the nearest pixel, they stay equal.
  auto mask = host_tensor("mask", {4, 6}, picture().as<std::uint8_t>());
  auto stage = open_with(kMoves, "[{mask: {fill: 77}}]", {{"mask", u8, {4, 6}}}).value();
  const auto call = stage->process({picture(), mask}).value();
  EXPECT_EQ(call["mask"].shape, (Shape{3, 4}));
  EXPECT_EQ(call["mask"].as<std::uint8_t>(), call["image"].as<std::uint8_t>());
}

TEST(MaskTest, WideValuesAndChannelsAreKept) {
  const auto levels = picture().as<std::uint8_t>();
  std::vector<std::int64_t> wide;
  std::vector<std::uint8_t> triples;
  for (const std::uint8_t level : levels) {
    wide.push_back((std::int64_t{1} << 40) - level);
    for (int c = 0; c < 3; ++c) triples.push_back(static_cast<std::uint8_t>(level + 50 * c));
  }
  auto stage = open_with(kMoves, "[{mask: {fill: -100}}, {mask: {name: edges}}]",
                         {{"mask", i64, {4, 6, 1}}, {"edges", u8, {4, 6, 3}}})
                   .value();
  const auto call = stage
                        ->process({picture(), host_tensor("mask", {4, 6, 1}, wide),
                                   host_tensor("edges", {4, 6, 3}, triples)})
                        .value();
  const auto image = call["image"].as<std::uint8_t>();
  const auto mask = call["mask"].as<std::int64_t>();
  const auto edges = call["edges"].as<std::uint8_t>();
  int outside = 0;
  for (std::size_t i = 0; i < image.size(); ++i) {
    const bool filled = image[i] == 77;
    outside += filled ? 1 : 0;
    EXPECT_EQ(mask[i], filled ? -100 : (std::int64_t{1} << 40) - image[i]);
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_EQ(edges[3 * i + c], filled ? 0 : static_cast<std::uint8_t>(image[i] + 50 * c));
  }
  EXPECT_TRUE(outside > 0 && outside < 12) << outside;
}

TEST(MaskTest, AnotherSizeThanThePictureSIsAMistake) {
  EXPECT_THAT(mistake("[]", "[mask]", {{"mask", u8, {4, 5}}}),
              HasSubstr("mask has 4 x 5 pixels, its picture 4 x 6; they must be of one size"));
  auto stage = open_with("[]", "[mask]", {{"mask", u8, {up_to(9), up_to(9)}}}).value();
  const std::vector<std::uint8_t> values(24);
  EXPECT_TRUE(stage->process({picture(), host_tensor("mask", {4, 6}, values)}));
  const auto turned = stage->process({picture(), host_tensor("mask", {6, 4}, values)});
  ASSERT_FALSE(turned);
  EXPECT_THAT(turned.error().message, HasSubstr("mask has 6 x 4 pixels, its picture 4 x 6"));
}

// --- boxes ----------------------------------------------------------------------------------

const Ports kBoxes = {{"boxes", f32, {up_to(9), 4}}, {"label", i64, {up_to(9)}}};

TEST(BoxesTest, MoveAreCutAndLeaveWithTheirLabels) {
  auto stage = open_with("[{center_crop: {size: [4, 2]}}, {random_horizontal_flip: {p: 1}}]",
                         "[{boxes: {with: [label], share_min: 0.4}}]", kBoxes)
                   .value();
  EXPECT_EQ(stage->outputs().find("boxes")->text(), "boxes f32[<=9, 4]");
  // The crop has the columns 2 .. 4. Of the second nothing is left, of the third a third.
  const auto call =
      stage
          ->process({picture(),
                     floats("boxes", {4, 4}, {1, 0, 4, 2, 0, 0, 2, 4, 3, 1, 7, 2, 2, 2, 3, 3}),
                     host_tensor<std::int64_t>("label", {4}, {10, 11, 12, 13})})
          .value();
  EXPECT_EQ(call["boxes"].shape, (Shape{2, 4}));
  EXPECT_THAT(call["boxes"].as<float>(), ElementsAre(0, 0, 2, 2, 1, 2, 2, 3));
  EXPECT_THAT(call["label"].as<std::int64_t>(), ElementsAre(10, 13));
}

TEST(BoxesTest, EveryFormatIsWrittenAsItWasRead) {
  for (const auto& [format, box] : std::vector<std::pair<std::string, std::vector<float>>>{
           {"xyxy", {1, 1, 3, 2}}, {"xywh", {1, 1, 2, 1}}, {"cxcywh", {2, 1.5, 2, 1}}}) {
    auto stage = open_with("[{resize: {size: [8, 18]}}, {random_vertical_flip: {p: 1}}]",
                           concat("[{boxes: {format: ", format, "}}]"), kBoxes)
                     .value();
    const auto call = stage->process({picture(), floats("boxes", {1, 4}, box)}).value();
    const std::vector<float> expected = format == "xyxy"   ? std::vector<float>{3, 4, 9, 6}
                                        : format == "xywh" ? std::vector<float>{3, 4, 6, 2}
                                                           : std::vector<float>{6, 5, 6, 2};
    EXPECT_EQ(call["boxes"].as<float>(), expected) << format;
  }
}

TEST(BoxesTest, NoneMayBeLeftAndNoneMayCome) {
  auto stage =
      open_with("[{center_crop: {size: [2, 2]}}]", "[{boxes: {with: [label]}}]", kBoxes).value();
  for (const auto& boxes : std::vector<std::vector<float>>{{0, 0, 1, 1}, {}}) {
    const auto rows = static_cast<std::int64_t>(boxes.size() / 4);
    const auto call =
        stage
            ->process(
                {picture(), floats("boxes", {rows, 4}, boxes),
                 host_tensor<std::int64_t>(
                     "label", {rows}, std::vector<std::int64_t>(static_cast<std::size_t>(rows)))})
            .value();
    EXPECT_EQ(call["boxes"].shape, (Shape{0, 4}));
    EXPECT_EQ(call["label"].shape, (Shape{0}));
  }
}

TEST(BoxesTest, WhatCannotBeABoxIsAnErrorOfItsSample) {
  auto stage = open_with("[]", "[{boxes: {with: [label]}}]", kBoxes).value();
  const auto said = [&](std::vector<float> box, std::int64_t labels = 1) {
    const auto call = stage->process(
        {picture(), floats("boxes", {1, 4}, box),
         host_tensor<std::int64_t>("label", {labels},
                                   std::vector<std::int64_t>(static_cast<std::size_t>(labels)))});
    return call ? "none" : call.error().message;
  };
  EXPECT_EQ(said({0, 0, 6.9F, 4}), "none");  // rounded annotations
  EXPECT_THAT(said({3, 1, 1, 2}), HasSubstr("boxes, row 0: [3, 1, 1, 2] ends before it begins"));
  EXPECT_THAT(said({0, 0, 8, 4}), HasSubstr("is outside of its picture of 4 x 6 pixels"));
  EXPECT_THAT(said({0, 0, NAN, 4}), HasSubstr("has a number that is not finite"));
  EXPECT_THAT(said({0, 0, 6, 4}, 2), HasSubstr("label has 2 rows, what it belongs to has 1"));
}

TEST(BoxesTest, MistakesAreSaidBeforeARun) {
  EXPECT_THAT(mistake("[]", "[boxes]", {}), HasSubstr("there is no tensor \"boxes\""));
  EXPECT_THAT(mistake("[]", "[boxes]", {{"boxes", f32, {3, 5}}}),
              HasSubstr("expected boxes f32[<=N, 4], found boxes f32[3, 5]"));
  EXPECT_THAT(mistake("[]", "[boxs]", {}), HasSubstr("did you mean boxes?"));
  EXPECT_THAT(mistake("[]", "[{boxes: {format: yxyx}}]", kBoxes), HasSubstr("format"));
  EXPECT_THAT(mistake("[]", "[boxes, boxes]", kBoxes), HasSubstr("name it once"));
  EXPECT_THAT(mistake("[]", "[{boxes: {with: [image]}}]", kBoxes), HasSubstr("name it once"));
  EXPECT_THAT(
      mistake("[]", "[{boxes: {with: [label]}}]", {{"boxes", f32, {3, 4}}, {"label", i64, {2}}}),
      HasSubstr("has not one row for each of boxes f32[3, 4]"));
  EXPECT_THAT(mistake("[]", "[mask]", {{"mask", f32, {4, 6}}}),
              HasSubstr("expected a mask of whole numbers"));
  EXPECT_THAT(mistake("[]", "[{mask: {fill: 256}}]", {{"mask", u8, {4, 6}}}),
              HasSubstr("fill: 256 is no u8"));
}

// --- keypoints ------------------------------------------------------------------------------

TEST(KeypointsTest, ThoseOutsideLeaveOrBecomeInvisible) {
  auto stage =
      open_with(
          "[{center_crop: {size: [4, 2]}}]",
          "[{keypoints: {with: [label]}}, {keypoints: {name: joints}}]",
          {{"keypoints", f32, {up_to(5), 2}}, {"label", i64, {up_to(5)}}, {"joints", f32, {3, 3}}})
          .value();
  EXPECT_EQ(stage->outputs().find("joints")->text(), "joints f32[3, 3]");
  const auto call = stage
                        ->process({picture(), floats("keypoints", {3, 2}, {2.5, 1, 1, 1, 4, 4}),
                                   host_tensor<std::int64_t>("label", {3}, {7, 8, 9}),
                                   floats("joints", {3, 3}, {3, 2, 2, 5, 2, 1, NAN, NAN, 0})})
                        .value();
  EXPECT_THAT(call["keypoints"].as<float>(), ElementsAre(0.5, 1, 2, 4));
  EXPECT_THAT(call["label"].as<std::int64_t>(), ElementsAre(7, 9));
  EXPECT_THAT(call["joints"].as<float>(), ElementsAre(1, 2, 2, 0, 0, 0, 0, 0, 0));
}

TEST(KeypointsTest, ThoseOfBoxesLeaveWithThem) {
  auto stage =
      open_with("[{center_crop: {size: [4, 2]}}]", "[keypoints, {boxes: {with: [keypoints]}}]",
                {{"keypoints", f32, {up_to(5), 2, 3}}, {"boxes", f32, {up_to(5), 4}}})
          .value();
  EXPECT_EQ(stage->outputs().find("keypoints")->text(), "keypoints f32[<=5, 2, 3]");
  const auto call =
      stage
          ->process({picture(),
                     floats("keypoints", {2, 2, 3}, {1, 1, 2, 1, 2, 2, 2, 1, 2, 5, 3, 2}),
                     floats("boxes", {2, 4}, {0, 0, 2, 2, 1, 1, 5, 3})})
          .value();
  EXPECT_THAT(call["boxes"].as<float>(), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(call["keypoints"].shape, (Shape{1, 2, 3}));
  EXPECT_THAT(call["keypoints"].as<float>(), ElementsAre(0, 1, 2, 0, 0, 0));
  EXPECT_THAT(mistake("[]", "[keypoints, {boxes: {with: [keypoints]}}]",
                      {{"keypoints", f32, {5, 2}}, {"boxes", f32, {5, 4}}}),
              HasSubstr("keypoints that belong to boxes have a visibility"));
}

TEST(KeypointsTest, ThoseThatComeFromOutsideAreNotThere) {
  auto stage = open_with("[{pad: {padding: [3]}}]", "[keypoints, {keypoints: {name: joints}}]",
                         {{"keypoints", f32, {up_to(5), 2}}, {"joints", f32, {3, 3}}})
                   .value();
  const auto call =
      stage
          ->process({picture(), floats("keypoints", {4, 2}, {-2, 1, -0.5, 1, 6.5, 4.5, 6, 5.5}),
                     floats("joints", {3, 3}, {-2, 1, 2, 7.5, 1, 1, 6.5, 1, 2})})
          .value();
  EXPECT_THAT(call["keypoints"].as<float>(), ElementsAre(2.5, 4, 9.5, 7.5));
  EXPECT_THAT(call["joints"].as<float>(), ElementsAre(0, 0, 0, 0, 0, 0, 9.5, 4, 2));
}

TEST(KeypointsTest, NumbersThatAreNotFiniteAreErrorsOfTheirSample) {
  auto stage = open_with("[]", "[{keypoints: {name: joints}}]", {{"joints", f32, {1, 3}}}).value();
  const auto said = [&](const std::vector<float>& joint) {
    const auto call = stage->process({picture(), floats("joints", {1, 3}, joint)});
    return call ? "none" : call.error().message;
  };
  EXPECT_EQ(said({3, 3, 1}), "none");
  EXPECT_EQ(said({NAN, NAN, 0}), "none");
  EXPECT_THAT(said({3, 3, NAN}), HasSubstr("has a number that is not finite"));
  EXPECT_THAT(said({NAN, 3, 1}), HasSubstr("has a number that is not finite"));
}

TEST(TargetsTest, ACompanionHasOneOwnerAndThatIsBoxes) {
  const Ports ports = {{"a", f32, {up_to(5), 4}},
                       {"b", f32, {up_to(5), 4}},
                       {"points", f32, {up_to(5), 2}},
                       {"kp", f32, {up_to(5), 3}}};
  EXPECT_EQ(mistake("[]", "[{boxes: {name: a, with: [kp]}}, {keypoints: {name: kp}}]", ports),
            "none");
  EXPECT_THAT(mistake("[]",
                      "[{boxes: {name: a, with: [kp]}}, {boxes: {name: b, with: [kp]}}, "
                      "{keypoints: {name: kp}}]",
                      ports),
              HasSubstr("the tensor \"kp\" is written already: name it once"));
  EXPECT_THAT(
      mistake("[]", "[{keypoints: {name: points, with: [kp]}}, {keypoints: {name: kp}}]", ports),
      HasSubstr("with: \"kp\" is a target itself, which may leave with boxes only; leave it out of "
                "the `with` of \"points\""));
}

TEST(TargetsTest, DrawsAndPictureStayAsTheyWere) {
  const std::string operations =
      "[{random_resized_crop: {size: 5}}, random_horizontal_flip, {random_affine: {degrees: 90}}, "
      "{random_erasing: {p: 1}}]";
  auto alone = open_with(operations, "[]", {}).value();
  auto with = open_with(operations, "[mask, boxes]", {{"mask", u8, {4, 6}}, {"boxes", f32, {1, 4}}})
                  .value();
  const auto mask = host_tensor("mask", {4, 6}, picture().as<std::uint8_t>());
  for (std::uint64_t id = 0; id < 20; ++id)
    EXPECT_EQ(alone->process({picture()}, {.id = id}).value()["image"],
              with->process({picture(), mask, floats("boxes", {1, 4}, {1, 1, 3, 3})}, {.id = id})
                  .value()["image"]);
}

}  // namespace
}  // namespace brigade
