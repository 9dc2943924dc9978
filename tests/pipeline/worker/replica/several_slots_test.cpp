// Stages that make several slots of each sample, as the codec shows them to the stage.

#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/codec.h"

namespace brigade {
namespace {

using namespace support;

/// A stage that makes three slots of each sample: a number of its own, and the image that passes.
class SeveralSlots : public Codec {
 protected:
  SeveralSlots() {
    add_source("source", {kNumber, kImage, kBoxes});
    PlanStage& stage = add_stage("stage", {{"result", i64, {}}, kImage, kBoxes, kOwn});
    stage.fan_out = 3;
    stage.passes = {{"image", 0}, {"boxes", 0}};
    connect(stage, 0, "in");
    fill(0, 8, {4}, {7});
    for (std::uint64_t number = 8; number < 16; ++number) {
      std::memset(rings_[0].slot(1, number), static_cast<int>(number), 6);
      auto* sizes = reinterpret_cast<std::int64_t*>(rings_[0].slot(3, number));
      sizes[0] = static_cast<std::int64_t>(number % 4);
      sizes[1] = 2;
      *reinterpret_cast<float*>(rings_[0].slot(2, number)) = static_cast<float>(number);
    }
  }
  PlanStage& stage() { return plan_.stages[1]; }
  const SlotHeader& header(std::uint64_t number) { return *rings_[1].headers(number); }

  static inline const TensorType kOwn{"own", u8, {up_to(5)}};
};

TEST_F(SeveralSlots, HaveNumbersIndicesAndIdsOfTheirOwn) {
  RecordReader reader = this->reader(stage());
  RecordWriter writer = this->writer(stage());
  reader.begin(8);
  writer.begin(8);
  writer.pass_on(reader.headers(), reader.states());
  for (std::uint64_t number = 24; number < 48; ++number) {
    EXPECT_EQ(header(number).number, number);
    EXPECT_EQ(header(number).index, number + 300);
    EXPECT_EQ(header(number).id, number + 600);
    EXPECT_EQ(header(number).epoch, 3u);
    const SlotState state = number / 3 == 12   ? SlotState::empty
                            : number / 3 == 15 ? SlotState::pad
                                               : SlotState::full;
    EXPECT_EQ(header(number).state, state) << number;
  }
  writer.make_empty(1);
  for (std::uint64_t number = 27; number < 30; ++number)
    EXPECT_EQ(header(number).state, SlotState::empty);
  EXPECT_EQ(header(30).state, SlotState::full);
}

TEST_F(SeveralSlots, EachHasWhatPasses) {
  RecordReader reader = this->reader(stage());
  RecordWriter writer = this->writer(stage());
  reader.begin(8);
  writer.begin(8);
  writer.pass_on(reader.headers(), reader.states());
  for (std::uint64_t number = 24; number < 48; ++number) {
    if (header(number).state != SlotState::full) continue;
    const std::uint64_t from = number / 3;
    EXPECT_EQ(std::memcmp(rings_[1].slot(1, number), rings_[0].slot(1, from), 6), 0) << number;
    EXPECT_EQ(*reinterpret_cast<const std::int64_t*>(rings_[1].slot(3, number)),
              static_cast<std::int64_t>(from % 4));
    if (from % 4 == 0) continue;
    EXPECT_EQ(*reinterpret_cast<const float*>(rings_[1].slot(2, number)), static_cast<float>(from));
  }
}

TEST_F(SeveralSlots, OfASampleAreWrittenInOneCall) {
  RecordReader reader = this->reader(stage());
  RecordWriter writer = this->writer(stage());
  reader.begin(8);
  writer.begin(8);
  writer.select(2);
  Outputs out = writer.outputs();
  ASSERT_EQ(out.samples(), 3);
  for (std::int64_t i = 0; i < 3; ++i) {
    Outputs slot = out.sample(i);
    EXPECT_EQ(slot.samples(), 1);
    slot["result"].as<std::int64_t>()[0] = 100 + i;
    const auto own = slot.sample(0)["own"].resize<std::uint8_t>({i + 1});
    ASSERT_TRUE(own.ok());
    std::fill(own->begin(), own->end(), static_cast<std::uint8_t>(i));
  }
  writer.commit(2);
  for (std::uint64_t i = 0; i < 3; ++i) {
    const std::uint64_t number = (8 + 2) * 3 + i;
    EXPECT_EQ(*reinterpret_cast<const std::int64_t*>(rings_[1].slot(0, number)),
              static_cast<std::int64_t>(100 + i));
    EXPECT_EQ(*reinterpret_cast<const std::int64_t*>(rings_[1].slot(5, number)),
              static_cast<std::int64_t>(i + 1));
    EXPECT_EQ(*reinterpret_cast<const std::uint8_t*>(rings_[1].slot(4, number)), i);
  }
}

TEST_F(SeveralSlots, OfABatchAreWrittenAroundItsEmptySlots) {
  stage().batched = true;
  RecordReader reader = this->reader(stage());
  RecordWriter writer = this->writer(stage());
  reader.begin(8);
  writer.begin(8);
  reader.select_full();
  writer.select_full(reader.states());
  ASSERT_EQ(reader.inputs().samples(), 6);
  Outputs out = writer.outputs();
  ASSERT_EQ(out.samples(), 18);
  EXPECT_EQ(out["result"].shape(), Shape{18});
  for (std::int64_t i = 0; i < 18; ++i) out.sample(i)["result"].as<std::int64_t>()[0] = i;
  writer.commit_full(reader.states());
  for (std::uint64_t i = 0; i < 18; ++i) {
    const std::uint64_t sample = i / 3 < 4 ? i / 3 : i / 3 + 1;  // slot 4 is an empty slot
    EXPECT_EQ(*reinterpret_cast<const std::int64_t*>(rings_[1].slot(0, (8 + sample) * 3 + i % 3)),
              static_cast<std::int64_t>(i));
  }
}

}  // namespace
}  // namespace brigade
