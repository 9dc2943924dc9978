// What the stage `opencv` draws from its list: tests/golden/stages/opencv.txt has how it is read,
// and python/tests/opencv_test.py compares what each operation does with cv2. The table in
// docs/OPENCV.md is the program's, word for word (UPDATE_GOLDEN=1 rewrites it).

#include "stages/opencv/opencv_operations.h"

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

using testing_support::param_value;

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
              "use the operation of `transform: opencv` (`brigade docs OPENCV`)")
        << type.name;
}

TEST(OpenCvOperationsTest, ThePageHasEveryOperationAndParameter) {
  testing_support::expect_rows("OPENCV.md", "<!-- operations:",
                               testing_support::rows_of("operation", opencv::operation_types()));
}

}  // namespace
}  // namespace brigade
