#include "pipeline/run/record_field.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

const TensorType kBoxes{"boxes", f32, {up_to(4), 2}};

TEST(MakeField, OfASampleHasTheShapeOfTheType) {
  const Field field = make_field(kBoxes, "left.boxes", false, 64);
  EXPECT_EQ(field.name, "left.boxes");
  EXPECT_EQ(field.dtype, f32);
  EXPECT_TRUE(field.ragged);
  EXPECT_EQ(field.shape, (Shape{4, 2}));
  EXPECT_EQ(field.bounds, field.shape);
}

TEST(MakeField, OfABatchHasItsRowsInFront) {
  const Field field = make_field({"image", u8, {28, 28}}, "image", true, 64);
  EXPECT_FALSE(field.ragged);
  EXPECT_EQ(field.shape, (Shape{64, 28, 28}));
  EXPECT_EQ(field.row_shape, (Shape{28, 28}));
  EXPECT_EQ(field.row_bounds, field.row_shape);
}

}  // namespace
}  // namespace brigade
