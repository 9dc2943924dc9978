#include <brigade/record.h>
#include <brigade/tensor.h>
#include <brigade/types.h>

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/message_of.h"

namespace brigade {
namespace {

TEST(DTypeTest, NamesOfOursAndOfTorchAreParsedAndSizesAreThoseOfTheElements) {
  struct Row {
    DType dtype, of_type;
    std::size_t bytes;
    const char *name, *of_torch;
  };
  for (const Row& row : {Row{boolean, dtype_of<bool>(), sizeof(bool), "bool", "torch.bool"},
                         {u8, dtype_of<std::uint8_t>(), 1, "u8", "uint8"},
                         {i8, dtype_of<std::int8_t>(), 1, "i8", "torch.int8"},
                         {i16, dtype_of<std::int16_t>(), 2, "i16", "torch.short"},
                         {i32, dtype_of<std::int32_t>(), 4, "i32", "torch.int32"},
                         {i64, dtype_of<std::int64_t>(), 8, "i64", "long"},
                         {f16, dtype_of<Half>(), sizeof(Half), "f16", "half"},
                         {bf16, dtype_of<BFloat16>(), sizeof(BFloat16), "bf16", "bfloat16"},
                         {f32, dtype_of<float>(), 4, "f32", "torch.float32"},
                         {f64, dtype_of<double>(), 8, "f64", "torch.double"}}) {
    EXPECT_EQ(row.of_type, row.dtype) << row.name;
    EXPECT_EQ(dtype_bytes(row.dtype), row.bytes) << row.name;
    EXPECT_EQ(dtype_name(row.dtype), row.name);
    EXPECT_EQ(parse_dtype(row.name), row.dtype) << row.name;
    EXPECT_EQ(parse_dtype(row.of_torch), row.dtype) << row.of_torch;
  }
  for (auto name : {"", "u16", "U8", "float16 ", "torch.", "torch.torch.u8"})
    EXPECT_EQ(parse_dtype(name), std::nullopt) << name;
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
  EXPECT_EQ(message_of(ragged().resize({5, 3})),
            "resize to [5, 3]: the contract allows at most [4, 3]");
  EXPECT_FALSE(ragged().resize({4}));
  EXPECT_FALSE(ragged().resize({-1, 3}));
  EXPECT_EQ(shape_, (Shape{0, 3}));
}

TEST_F(TensorSlotTest, AFixedSlotKeepsItsShape) {
  EXPECT_TRUE(fixed().resize({0, 3}));
  EXPECT_EQ(message_of(fixed().resize({2, 3})),
            "resize to [2, 3]: the contract fixes this tensor to [0, 3]; declare a bound with "
            "up_to() in the contract");
}

const TensorType kImage{"image", u8, {28, 28, 1}};
const TensorType kBoxes{"box", f32, {up_to(100), 4}};

TEST(TensorTypeTest, SaysWhatItIsAndItsLargestSample) {
  const std::int64_t large = std::int64_t{1} << 40;
  const TensorType label{"label", i64, {}}, huge{"huge", u8, {large, large}};
  EXPECT_EQ(kImage.text(), "image u8[28, 28, 1]");
  EXPECT_EQ(kBoxes.text(), "box f32[<=100, 4]");
  EXPECT_EQ(label.text(), "label i64[]");
  EXPECT_FALSE(kImage.ragged());
  EXPECT_TRUE(kBoxes.ragged());
  EXPECT_EQ(kBoxes.bounds(), (Shape{100, 4}));
  EXPECT_EQ(kImage.bytes_max(), 784u);
  EXPECT_EQ(kBoxes.bytes_max(), 1600u);
  EXPECT_EQ(label.bytes_max(), 8u);
  EXPECT_EQ(huge.bytes_max(), std::numeric_limits<std::uint64_t>::max());
}

TEST(PortsTest, FindsByName) {
  const Ports ports{kImage, kBoxes};
  EXPECT_EQ(ports.find("box"), &ports.tensors[1]);
  EXPECT_EQ(ports.find("boxes"), nullptr);
}

TEST(TensorPatternTest, EachKindOfDimensionHasItsRuleAndRankAndDtypeFitUnlessAnyDoes) {
  struct Row {
    Dim pattern, dim;
    bool accepted;
  };
  for (const auto& [pattern, dim, accepted] : {Row{3, 3, true},
                                               {3, 2, false},
                                               {3, up_to(3), false},
                                               {up_to(3), 3, true},
                                               {up_to(3), 1, true},
                                               {up_to(3), up_to(3), true},
                                               {up_to(3), 4, false},
                                               {up_to(3), up_to(4), false},
                                               {any_size, 5, true},
                                               {any_size, up_to(5), true}})
    EXPECT_EQ((TensorPattern{"t", {}, false, {pattern}, ""}.accepts({"t", u8, {dim}})), accepted)
        << TensorType{"t", u8, {dim}}.text();
  EXPECT_FALSE((TensorPattern{"image", {}, false, {any_size, any_size}, ""}.accepts(kImage)));
  EXPECT_TRUE((TensorPattern{"image", {}, true, {}, ""}.accepts(kImage)));
  EXPECT_TRUE((TensorPattern{"image", {}, false, {28, 28, 1}, ""}.accepts(kImage)));
  EXPECT_FALSE((TensorPattern{"image", {f32, f64}, false, {28, 28, 1}, ""}.accepts(kImage)));
}

TEST(TensorPatternTest, SaysWhatItAccepts) {
  EXPECT_EQ((TensorPattern{"image", {u8, f32}, false, {any_size, 28, up_to(4)}, ""}.text()),
            "image u8|f32[any, 28, <=4]");
  EXPECT_EQ((TensorPattern{"data", {}, true, {}, ""}.text()), "data any dtype [...]");
}

TEST(FileMetadataTest, AMissingHeaderIsNull) {
  FileMetadata metadata;
  metadata.files.push_back({"images", {"header", 6}});
  ASSERT_NE(metadata.find("images"), nullptr);
  EXPECT_EQ(metadata.find("images")->header, "header");
  EXPECT_EQ(metadata.find("labels"), nullptr);
}

constexpr SampleInfo kThree[] = {{0, 0, 100, 2}, {1, 1, 101, 2}, {2, 2, 102, 2}};

/// Three samples of two u8 elements, four bytes apart.
Frame batch_of_three(std::uint8_t* data) {
  Frame frame;
  frame.batched = true;
  frame.samples = 3;
  frame.fields.push_back(
      {"image", u8, false, {3, 2}, {3, 2}, {2}, {2}, reinterpret_cast<std::byte*>(data), 4});
  frame.infos = kThree;
  frame.port = "train";
  frame.seed = 7;
  frame.stream = stream_id("augment");
  return frame;
}

class RecordTest : public testing::Test {
 protected:
  std::uint8_t data_[12] = {1, 2, 0, 0, 3, 4, 0, 0, 5, 6, 0, 0};
  Frame frame_ = batch_of_three(data_);
};

TEST_F(RecordTest, InputsShowTheBatch) {
  const Inputs in(frame_);
  EXPECT_EQ(in.samples(), 3);
  EXPECT_EQ(in.port(), "train");
  EXPECT_EQ(in["image"].shape(), (Shape{3, 2}));
  EXPECT_EQ(in.name(0), "image");
  EXPECT_EQ(in.at(0).data(), data_);
  EXPECT_TRUE(in.has("image"));
  EXPECT_FALSE(in.has("label"));
  EXPECT_EQ(in.info(2).id, 102u);
  EXPECT_DEATH((void)in["label"], "label");
}

TEST_F(RecordTest, ASlotOfABatchIsASample) {
  const Inputs slot = Inputs(frame_).sample(1);
  EXPECT_EQ(slot.samples(), 1);
  EXPECT_EQ(slot["image"].shape(), Shape{2});
  EXPECT_EQ(slot["image"].as<std::uint8_t>()[1], 4);
  EXPECT_EQ(slot.info().id, 101u);
  EXPECT_EQ(slot.sample(0)["image"].data(), slot["image"].data());
  EXPECT_DEATH((void)Inputs(frame_).sample(3), "samples");
}

TEST_F(RecordTest, RandomNumbersBelongToTheSample) {
  Philox expected(7, stream_id("augment"), 2, 101);
  Philox of_batch = Inputs(frame_).random(1);
  Philox of_slot = Inputs(frame_).sample(1).random();
  const std::uint64_t first = expected.next64();
  EXPECT_EQ(of_batch.next64(), first);
  EXPECT_EQ(of_slot.next64(), first);
  EXPECT_NE(Inputs(frame_).random(2).next64(), first);
}

TEST_F(RecordTest, OutputsOfABatchAreWrittenSlotBySlot) {
  Outputs out(frame_);
  EXPECT_EQ(out.samples(), 3);
  EXPECT_EQ(out["image"].shape(), (Shape{3, 2}));
  Outputs slot = out.sample(2);
  EXPECT_EQ(slot.samples(), 1);
  EXPECT_EQ(slot["image"].shape(), Shape{2});
  slot["image"].as<std::uint8_t>()[0] = 9;
  EXPECT_EQ(data_[8], 9);
  EXPECT_DEATH((void)out["label"], "label");
}

TEST_F(RecordTest, WithoutABatchSlotZeroIsTheRecord) {
  frame_.batched = false;
  frame_.samples = 1;
  frame_.fields[0].shape = Shape{2};
  EXPECT_EQ(Outputs(frame_).sample(0)["image"].data(), data_);
  EXPECT_EQ(Inputs(frame_).sample(0)["image"].shape(), Shape{2});
}

TEST_F(RecordTest, RaggedSlotsResizeTheRecord) {
  frame_.batched = false;
  frame_.fields[0].ragged = true;
  frame_.fields[0].bounds = Shape{4};
  ASSERT_TRUE(Outputs(frame_)["image"].resize({3}));
  EXPECT_EQ(Inputs(frame_)["image"].shape(), Shape{3});
}

}  // namespace
}  // namespace brigade
