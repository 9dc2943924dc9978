#include "stages/api/record.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

/// Three samples of two u8 elements, four bytes apart.
Frame batch_of_three(std::uint8_t* data) {
  Frame frame;
  frame.batched = true;
  frame.rows = 3;
  frame.fields.push_back(
      {"image", u8, false, {3, 2}, {3, 2}, {2}, {2}, reinterpret_cast<std::byte*>(data), 4});
  for (std::uint64_t i = 0; i < 3; ++i) frame.samples.push_back({i, i, 100 + i, 2});
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
  EXPECT_EQ(in.rows(), 3);
  EXPECT_EQ(in.port(), "train");
  EXPECT_EQ(in["image"].shape(), (Shape{3, 2}));
  EXPECT_EQ(in.name(0), "image");
  EXPECT_EQ(in.at(0).data(), data_);
  EXPECT_TRUE(in.has("image"));
  EXPECT_FALSE(in.has("label"));
  EXPECT_EQ(in.sample(2).id, 102u);
  EXPECT_DEATH((void)in["label"], "label");
}

TEST_F(RecordTest, ARowOfABatchIsASample) {
  const Inputs row = Inputs(frame_).row(1);
  EXPECT_EQ(row.rows(), 1);
  EXPECT_EQ(row["image"].shape(), Shape{2});
  EXPECT_EQ(row["image"].as<std::uint8_t>()[1], 4);
  EXPECT_EQ(row.sample().id, 101u);
  EXPECT_EQ(row.row(0)["image"].data(), row["image"].data());
  EXPECT_DEATH((void)Inputs(frame_).row(3), "rows");
}

TEST_F(RecordTest, RandomNumbersBelongToTheSample) {
  Philox expected(7, stream_id("augment"), 2, 101);
  Philox of_batch = Inputs(frame_).random(1);
  Philox of_row = Inputs(frame_).row(1).random();
  const std::uint64_t first = expected.next64();
  EXPECT_EQ(of_batch.next64(), first);
  EXPECT_EQ(of_row.next64(), first);
  EXPECT_NE(Inputs(frame_).random(2).next64(), first);
}

TEST_F(RecordTest, OutputsOfABatchAreWrittenRowByRow) {
  Outputs out(frame_);
  EXPECT_EQ(out.rows(), 3);
  EXPECT_EQ(out["image"].shape(), (Shape{3, 2}));
  Outputs row = out.row(2);
  EXPECT_EQ(row.rows(), 1);
  EXPECT_EQ(row["image"].shape(), Shape{2});
  row["image"].as<std::uint8_t>()[0] = 9;
  EXPECT_EQ(data_[8], 9);
  EXPECT_DEATH((void)out["label"], "label");
}

TEST_F(RecordTest, WithoutABatchRowZeroIsTheRecord) {
  frame_.batched = false;
  frame_.rows = 1;
  frame_.fields[0].shape = Shape{2};
  EXPECT_EQ(Outputs(frame_).row(0)["image"].data(), data_);
  EXPECT_EQ(Inputs(frame_).row(0)["image"].shape(), Shape{2});
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
