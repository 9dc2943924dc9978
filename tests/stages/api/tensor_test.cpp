#include "stages/api/tensor.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

constexpr DType kAll[] = {boolean, u8, i8, i16, i32, i64, f16, bf16, f32, f64};

TEST(DTypeTest, EveryNameIsParsedBack) {
  for (DType dtype : kAll) EXPECT_EQ(parse_dtype(dtype_name(dtype)), dtype) << dtype_name(dtype);
}

TEST(DTypeTest, NamesOfTorchAreUnderstood) {
  EXPECT_EQ(parse_dtype("uint8"), u8);
  EXPECT_EQ(parse_dtype("torch.float32"), f32);
  EXPECT_EQ(parse_dtype("long"), i64);
  EXPECT_EQ(parse_dtype("half"), f16);
  EXPECT_EQ(parse_dtype("bfloat16"), bf16);
}

TEST(DTypeTest, OtherNamesAreNone) {
  for (auto name : {"", "u16", "U8", "float16 ", "torch.", "torch.torch.u8"})
    EXPECT_EQ(parse_dtype(name), std::nullopt) << name;
}

TEST(DTypeTest, SizesAreThoseOfTheElements) {
  EXPECT_EQ(dtype_bytes(dtype_of<bool>()), sizeof(bool));
  EXPECT_EQ(dtype_bytes(dtype_of<std::int8_t>()), 1u);
  EXPECT_EQ(dtype_bytes(dtype_of<std::uint8_t>()), 1u);
  EXPECT_EQ(dtype_bytes(dtype_of<std::int16_t>()), 2u);
  EXPECT_EQ(dtype_bytes(dtype_of<std::int32_t>()), 4u);
  EXPECT_EQ(dtype_bytes(dtype_of<std::int64_t>()), 8u);
  EXPECT_EQ(dtype_bytes(dtype_of<Half>()), sizeof(Half));
  EXPECT_EQ(dtype_bytes(dtype_of<BFloat16>()), sizeof(BFloat16));
  EXPECT_EQ(dtype_bytes(dtype_of<float>()), 4u);
  EXPECT_EQ(dtype_bytes(dtype_of<double>()), 8u);
}

TEST(ShapeTest, CountsAndComparesAndPrints) {
  const Shape image{28, 30, 3};
  EXPECT_EQ(image.rank(), 3);
  EXPECT_EQ(image.elements(), 28 * 30 * 3);
  EXPECT_EQ(shape_text(image), "[28, 30, 3]");
  EXPECT_EQ(Shape{}.elements(), 1);
  EXPECT_EQ(shape_text({}), "[]");
  EXPECT_EQ(image, (Shape{28, 30, 3}));
  EXPECT_FALSE(image == (Shape{28, 30}));
  EXPECT_FALSE(image == (Shape{28, 30, 4}));
}

TEST(ShapeDeathTest, MoreThanEightDimensionsAreABug) {
  EXPECT_DEATH((Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}), "rank_ < kRankMax");
}

TEST(TensorViewTest, GivesTheElements) {
  const float data[] = {1, 2, 3, 4, 5, 6};
  const Shape shape{2, 3};
  const TensorView view(data, f32, shape);
  EXPECT_EQ(view.bytes(), sizeof data);
  EXPECT_EQ(view.as<float>().size(), 6u);
  EXPECT_EQ(view.as<float>()[5], 6);
  EXPECT_DEATH((void)view.as<double>(), "f32");
}

class TensorSlotTest : public testing::Test {
 protected:
  TensorSlot ragged() { return {data_, u8, shape_, bounds_, true}; }
  TensorSlot fixed() { return {data_, u8, shape_, shape_, false}; }

  std::uint8_t data_[12] = {};
  Shape shape_{0, 3};
  Shape bounds_{4, 3};
};

TEST_F(TensorSlotTest, ARaggedSlotTakesAnyShapeWithinItsBounds) {
  const auto span = ragged().resize<std::uint8_t>({2, 3});
  ASSERT_TRUE(span);
  EXPECT_EQ(span->size(), 6u);
  EXPECT_EQ(shape_, (Shape{2, 3}));
  EXPECT_TRUE(ragged().resize({4, 3}));
  EXPECT_TRUE(ragged().resize({0, 0}));
}

TEST_F(TensorSlotTest, AboveTheBoundsIsAnErrorAndChangesNothing) {
  const auto result = ragged().resize({5, 3});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "resize to [5, 3]: the contract allows at most [4, 3]");
  EXPECT_FALSE(ragged().resize({4}));
  EXPECT_FALSE(ragged().resize({-1, 3}));
  EXPECT_EQ(shape_, (Shape{0, 3}));
}

TEST_F(TensorSlotTest, AFixedSlotKeepsItsShape) {
  EXPECT_TRUE(fixed().resize({0, 3}));
  const auto result = fixed().resize({2, 3});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message,
            "resize to [2, 3]: the contract fixes this tensor to [0, 3]; give it a bound with "
            "up_to() there");
}

}  // namespace
}  // namespace brigade
