// The list of the stage `opencv` as it is read, without OpenCV: python/tests/opencv_test.py
// compares what each operation does with cv2. The table in docs/OPENCV.md is the program's, word
// for word (UPDATE_GOLDEN=1 rewrites it).

#include "stages/opencv/opencv_operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include <brigade/harness/params.h>
#include <brigade/text.h>
#include "stages/api/other_names.h"
#include "stages/opencv/opencv_contract.h"
#include "tests/support/file_text.h"
#include "tests/support/images/operation_rows.h"

namespace brigade {
namespace {

using testing::HasSubstr;
using testing_support::param_value;

std::string said(const std::string& list) {
  opencv::Operations operations;
  const auto read = parse_param(param_value(list), operations);
  return read ? "nothing" : read.error().message;
}

TEST(OpenCvOperationsTest, WrongParametersAreRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"[clae]", "item 1: there is no operation \"clae\"; did you mean clahe?"},
      {"[gaussian_blur]", "there is no operation \"gaussian_blur\" here; `transform: augment` has"},
      {"[median_blur]", "median_blur: needs ksize"},
      {"[{median_blur: {ksize: 4}}]", "ksize: expected an odd number from 3"},
      {"[{median_blur: {ksize: [3, 6]}}]", "ksize: expected an odd number from 3"},
      {"[{median_blur: {ksize: 3.5}}]", "ksize: expected an odd number from 3"},
      {"[{median_blur: {ksize: 1}}]", "ksize: expected a number from 3 to 255"},
      {"[{clahe: {tiles: 0}}]", "tiles: expected a whole number from 1 to 64"},
      {"[{clahe: {clip_limit: [4, 1]}}]", "clip_limit: expected a number, or a lower and an upper"},
      {"[{clahe: {p: 2}}]", "p: expected a number from 0 to 1"},
      {"[{bilateral_filter: {d: 5, sigma_color: 0, sigma_space: 1}}]", "sigma_color: expected"},
      {"[{bilateral_filter: {d: 5, sigma_color: 9, sigma_space: 0}}]", "sigma_space: expected"},
      {"[{morphology_ex: {op: opn}}]", "op: "},
      {"[{morphology_ex: {op: open, ksize: 2}}]", "ksize: expected an odd number from 1"},
      {"[{canny: {threshold1: 1, threshold2: 2, aperture_size: 4}}]", "expected 3, 5 or 7"},
      {"[{cvt_color: {code: rgb2cmyk}}]", "code: "},
      {"[{warp_perspective: {distortion_scale: 2}}]", "distortion_scale: expected a number from 0"},
      {"[{lens_distortion: {k1: 20}}]", "k1: expected"},
      {"[{elastic: {sigma: 0}}]", "sigma: expected a number above 0"},
      {"[{elastic: {fill: 256}}]", "fill: expected a whole number from 0 to 255"}};
  for (const auto& [list, error] : cases) EXPECT_THAT(said(list), HasSubstr(error)) << list;
  EXPECT_EQ(said("[clahe, {median_blur: {ksize: [3, 7]}}]"), "nothing");
}

TEST(OpenCvOperationsTest, ChannelsFollowTheList) {
  const auto after = [](const std::string& operation, std::int64_t channels) {
    opencv::Operations operations;
    EXPECT_TRUE(parse_param(param_value("[" + operation + "]"), operations)) << operation;
    const auto left = opencv::channels_after(opencv::make_operations(operations).front(), channels);
    return left ? *left : -1;
  };
  EXPECT_EQ(after("{cvt_color: {code: rgb2gray}}", 3), 1);
  EXPECT_EQ(after("{cvt_color: {code: rgb2lab}}", 3), 3);
  EXPECT_EQ(after("{cvt_color: {code: rgb2lab}}", 1), -1);
  EXPECT_EQ(after("{cvt_color: {code: gray2rgb}}", 1), 3);
  EXPECT_EQ(after("{cvt_color: {code: gray2rgb}}", 3), -1);
  EXPECT_EQ(after("{canny: {threshold1: 1, threshold2: 2}}", 3), 1);
  EXPECT_EQ(after("elastic", 1), 1);
}

TEST(OpenCvOperationsTest, SayWhetherTheyDraw) {
  const auto draws = [](const std::string& operation) {
    opencv::Operations operations;
    EXPECT_TRUE(parse_param(param_value("[" + operation + "]"), operations)) << operation;
    return opencv::draws(opencv::make_operations(operations).front());
  };
  EXPECT_FALSE(draws("clahe"));
  EXPECT_TRUE(draws("{clahe: {p: 0.5}}"));
  EXPECT_TRUE(draws("{clahe: {clip_limit: [1, 4]}}"));
  EXPECT_FALSE(draws("{median_blur: {ksize: 3}}"));
  EXPECT_TRUE(draws("{median_blur: {ksize: [3, 5]}}"));
  EXPECT_TRUE(draws("warp_perspective"));
  EXPECT_TRUE(draws("elastic"));
  EXPECT_FALSE(draws("{elastic: {p: 0}}"));
  EXPECT_FALSE(draws("{lens_distortion: {k1: 0.1}}"));
}

TEST(OpenCvOperationsTest, TheStageAugmentNamesThem) {
  for (const opencv::OperationType& type : opencv::operation_types())
    EXPECT_EQ(stage_elsewhere(type.name).value_or("nothing"),
              "`transform: opencv` has it (`brigade docs OPENCV`)")
        << type.name;
}

TEST(OpenCvOperationsTest, ThePageHasEveryOperationAndParameter) {
  testing_support::expect_rows("OPENCV.md", "<!-- operations:",
                               testing_support::rows_of("operation", opencv::operation_types()));
}

}  // namespace
}  // namespace brigade
