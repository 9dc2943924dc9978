#include "stages/api/types.h"

#include <gtest/gtest.h>

#include <limits>

namespace brigade {
namespace {

const TensorType kImage{"image", u8, {28, 28, 1}};
const TensorType kBoxes{"box", f32, {up_to(100), 4}};

TEST(TensorTypeTest, SaysWhatItIs) {
  EXPECT_EQ(kImage.text(), "image u8[28, 28, 1]");
  EXPECT_EQ(kBoxes.text(), "box f32[<=100, 4]");
  EXPECT_EQ((TensorType{"label", i64, {}}.text()), "label i64[]");
}

TEST(TensorTypeTest, IsRaggedByAnUpperBound) {
  EXPECT_FALSE(kImage.ragged());
  EXPECT_TRUE(kBoxes.ragged());
  EXPECT_EQ(kBoxes.bounds(), (Shape{100, 4}));
}

TEST(TensorTypeTest, CountsBytesOfTheLargestSample) {
  EXPECT_EQ(kImage.bytes_max(), 784u);
  EXPECT_EQ(kBoxes.bytes_max(), 1600u);
  EXPECT_EQ((TensorType{"label", i64, {}}.bytes_max()), 8u);
  const TensorType huge{"huge", u8, {std::int64_t{1} << 40, std::int64_t{1} << 40}};
  EXPECT_EQ(huge.bytes_max(), std::numeric_limits<std::uint64_t>::max());
}

TEST(PortsTest, FindsByName) {
  const Ports ports{kImage, kBoxes};
  EXPECT_EQ(ports.find("box"), &ports.tensors[1]);
  EXPECT_EQ(ports.find("boxes"), nullptr);
}

TEST(TensorPatternTest, NoDTypesMeansAnyDType) {
  const TensorPattern any{"image", {}, false, {28, 28, 1}, ""};
  const TensorPattern floats{"image", {f32, f64}, false, {28, 28, 1}, ""};
  EXPECT_TRUE(any.accepts(kImage));
  EXPECT_FALSE(floats.accepts(kImage));
}

TEST(TensorPatternTest, EachKindOfDimensionHasItsRule) {
  const auto accepts = [](Dim pattern, Dim dim) {
    return TensorPattern{"t", {}, false, {pattern}, ""}.accepts({"t", u8, {dim}});
  };
  EXPECT_TRUE(accepts(3, 3));
  EXPECT_FALSE(accepts(3, 2));
  EXPECT_FALSE(accepts(3, up_to(3)));
  EXPECT_TRUE(accepts(up_to(3), 3));
  EXPECT_TRUE(accepts(up_to(3), 1));
  EXPECT_TRUE(accepts(up_to(3), up_to(3)));
  EXPECT_FALSE(accepts(up_to(3), 4));
  EXPECT_FALSE(accepts(up_to(3), up_to(4)));
  EXPECT_TRUE(accepts(any_size, 5));
  EXPECT_TRUE(accepts(any_size, up_to(5)));
}

TEST(TensorPatternTest, TheRankMustFitUnlessAnyRankDoes) {
  EXPECT_FALSE((TensorPattern{"image", {}, false, {any_size, any_size}, ""}.accepts(kImage)));
  EXPECT_TRUE((TensorPattern{"image", {}, true, {}, ""}.accepts(kImage)));
}

TEST(TensorPatternTest, SaysWhatItAccepts) {
  EXPECT_EQ((TensorPattern{"image", {u8, f32}, false, {any_size, 28, up_to(4)}, ""}.text()),
            "image u8|f32[any, 28, <=4]");
  EXPECT_EQ((TensorPattern{"data", {}, true, {}, ""}.text()), "data any dtype [...]");
}

TEST(FactsTest, AMissingFactIsNull) {
  Facts facts;
  facts.files.push_back({"images", {"header", 6}});
  ASSERT_NE(facts.find("images"), nullptr);
  EXPECT_EQ(facts.find("images")->header, "header");
  EXPECT_EQ(facts.find("labels"), nullptr);
}

}  // namespace
}  // namespace brigade
