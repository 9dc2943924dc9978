#include "pipeline/run/shape_check.h"

#include <gtest/gtest.h>

#include "pipeline/run/record_field.h"

namespace brigade {
namespace {

const TensorType kImage{"image", u8, {up_to(700), up_to(700), 3}};

std::string error_of(std::initializer_list<std::int64_t> sizes) {
  const Field field = make_field(kImage, "left.image", true, 64);
  const auto checked = check_shape(field, sizes.begin(), varying_sizes(kImage));
  return checked.ok() ? "" : checked.error().message;
}

TEST(ShapeCheck, BoundsAreBoundsAndSizesAreSizes) {
  EXPECT_EQ(varying_sizes(kImage), 0b011u);
  EXPECT_EQ(varying_sizes({"label", i64, {3}}), 0u);
  for (const auto& sizes : {std::array<std::int64_t, 3>{700, 700, 3}, {0, 1, 3}})
    EXPECT_EQ(error_of({sizes[0], sizes[1], sizes[2]}), "");
  EXPECT_EQ(error_of({1, 1, 2}),
            "tensor \"left.image\": expected the shape [<=700, <=700, 3] of its contract, found "
            "[1, 1, 2]");
  for (const auto& sizes : {std::array<std::int64_t, 3>{701, 1, 3}, {1, -1, 3}, {1, 1, 4}})
    EXPECT_NE(error_of({sizes[0], sizes[1], sizes[2]}), "");
}

}  // namespace
}  // namespace brigade
