#include "pipeline/records/record_codec.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/codec.h"
#include "transports/memory_file.h"

namespace brigade {
namespace {

using namespace support;

TEST_F(Codec, ASampleIsItsSlotWithoutACopy) {
  const StageNumber source = add_source("source", {kNumber, kImage});
  PlanStage& stage = add_stage("stage", {});
  connect(stage, source, "in");
  RecordReader reader = this->reader(stage);
  fill(source, 16);
  reader.begin(16);
  EXPECT_EQ(reader.states().full, kTask);
  for (std::uint64_t slot = 0; slot < kTask; ++slot) {
    reader.select(slot);
    const Inputs in = reader.inputs();
    ASSERT_EQ(in.size(), 2u);
    EXPECT_EQ(in.name(1), "image");
    EXPECT_EQ(in.port(), "in");
    EXPECT_EQ(in.samples(), 1);
    EXPECT_EQ(in["image"].shape(), (Shape{3, 2}));
    EXPECT_EQ(in["image"].data(), rings_[0].slot(1, 16 + slot));
    EXPECT_EQ(in["number"].as<std::int64_t>()[0], static_cast<std::int64_t>(10 * (16 + slot)));
    EXPECT_EQ(in.info().number, 16 + slot);
    EXPECT_EQ(in.info().index, 116 + slot);
    EXPECT_EQ(in.info().id, 216 + slot);
    EXPECT_EQ(in.info().epoch, 3u);
  }
}

TEST_F(Codec, ABatchIsItsSlotsWithoutACopy) {
  const StageNumber source = add_source("source", {kNumber, kImage});
  PlanStage& stage = add_stage("stage", {});
  stage.batched = true;
  connect(stage, source, "in");
  RecordReader reader = this->reader(stage);
  fill(source, 8);
  reader.begin(8);
  reader.select_full();
  const Inputs in = reader.inputs();
  EXPECT_EQ(in.samples(), 8);
  EXPECT_EQ(in["image"].shape(), (Shape{8, 3, 2}));
  EXPECT_EQ(in["image"].data(), rings_[0].slot(1, 8));
  EXPECT_EQ(in.sample(5)["image"].data(), rings_[0].slot(1, 13));
  EXPECT_EQ(in.info(5).number, 13u);
  EXPECT_EQ(reader.samples().data(), rings_[0].headers(8));
}

TEST_F(Codec, EveryHeaderIsLookedAt) {
  const StageNumber source = add_source("source", {kNumber});
  PlanStage& stage = add_stage("stage", {});
  connect(stage, source, "in");
  RecordReader reader = this->reader(stage);
  for (const std::vector<std::uint64_t>& pads :
       std::vector<std::vector<std::uint64_t>>{{5, 6, 7}, {0, 1, 2}, {3, 4, 5}}) {
    fill(source, 0, {}, pads);
    reader.begin(0);
    EXPECT_EQ(reader.states().pads, 3u) << pads.front();
    fill(source, 8);
    reader.begin(8);
    EXPECT_EQ(reader.states().full, 8u);
  }
}

TEST_F(Codec, WhatAWriterSaysOfItsTaskIsNoReadersToPassOn) {
  const StageNumber source = add_source("source", {kNumber});
  add_stage("stage", {kNumber});
  PlanStage& sink = add_stage("sink", {});
  PlanStage& stage = plan_.stages[1];
  connect(stage, source, "in");
  connect(sink, StageNumber(1), "in");
  const SlotHeader& last = *rings_[1].headers(7);
  RecordReader read = reader(stage);
  RecordReader below = reader(sink);
  RecordWriter made = writer(plan_.stages[0]);
  RecordWriter passing = writer(stage);
  fill(source, 0);
  made.begin(0);
  made.end(kTask);
  EXPECT_EQ(rings_[0].headers(7)->full_before, 7u);
  read.begin(0);
  passing.begin(0);
  passing.pass_on(read.headers(), read.states());
  EXPECT_EQ(last.full_before, 0u);
  passing.make_empty(2);
  passing.end(kTask - 1);
  EXPECT_EQ(last.full_before, 0u);
  below.begin(0);
  EXPECT_EQ(below.states().full, kTask - 1);

  passing.pass_on(read.headers(), read.states());  // who does it again drops none
  passing.end(kTask);
  EXPECT_EQ(last.full_before, 7u);
  below.begin(0);
  EXPECT_EQ(below.states().full, kTask);
  passing.pass_on(read.headers(), read.states());  // and who does it after that does
  passing.make_empty(2);
  passing.end(kTask - 1);
  below.begin(0);
  EXPECT_EQ(below.states().empty_slots, 1u);
}

#ifndef NDEBUG
TEST_F(Codec, DebuggingHoldsWhatIsSaidAgainstEachHeader) {
  const StageNumber source = add_source("source", {kNumber});
  PlanStage& stage = add_stage("stage", {});
  connect(stage, source, "in");
  RecordReader reader = this->reader(stage);
  RecordWriter maker = writer(plan_.stages[0]);
  fill(source, 0, {2});
  maker.begin(0);
  maker.end(kTask);  // which is not so
  EXPECT_DEATH(reader.begin(0), "say_full");
}
#endif

TEST_F(Codec, PadsMakeABatchShortWithoutACopy) {
  const StageNumber source = add_source("source", {kNumber});
  PlanStage& stage = add_stage("stage", {});
  stage.batched = true;
  connect(stage, source, "in");
  RecordReader reader = this->reader(stage);
  fill(source, 0, {0}, {5, 6, 7});
  reader.begin(0);
  EXPECT_EQ(reader.states().pads, 3u);
  EXPECT_EQ(reader.states().empty_slots, 1u);
  reader.select_full();
  EXPECT_EQ(numbers(reader.inputs()), (std::vector<std::int64_t>{10, 20, 30, 40}));
  EXPECT_EQ(reader.inputs()["number"].data(), rings_[0].slot(0, 1));
  EXPECT_EQ(reader.inputs().info(0).number, 1u);

  fill(source, 8);  // and whole again
  reader.begin(8);
  reader.select_full();
  EXPECT_EQ(reader.inputs().samples(), 8);
}

TEST_F(Codec, EmptySlotsMakeADenseCopy) {
  const StageNumber source = add_source("source", {kNumber});
  PlanStage& stage = add_stage("stage", {});
  stage.batched = true;
  connect(stage, source, "in");
  RecordReader reader = this->reader(stage);
  fill(source, 0, {0, 3, 4}, {7});
  reader.begin(0);
  reader.select_full();
  const Inputs in = reader.inputs();
  EXPECT_EQ(numbers(in), (std::vector<std::int64_t>{10, 20, 50, 60}));
  EXPECT_EQ(in.info(2).number, 5u);
  EXPECT_EQ(reader.samples().size(), 4u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(in["number"].data()) % 64, 0u);
  EXPECT_EQ(*reinterpret_cast<std::int64_t*>(rings_[0].slot(0, 3)), 30);
}

TEST_F(Codec, ResultsAreScatteredToTheirNumbers) {
  const StageNumber source = add_source("source", {kNumber});
  add_stage("stage", {kNumber});
  PlanStage& stage = plan_.stages.back();
  stage.batched = true;
  connect(stage, source, "in");
  RecordReader reader = this->reader(stage);
  RecordWriter writer = this->writer(stage);
  for (const std::vector<std::uint64_t>& empty_slots :
       {std::vector<std::uint64_t>{2, 5}, std::vector<std::uint64_t>{},
        std::vector<std::uint64_t>{0, 7}}) {
    fill(source, 16, empty_slots);
    reader.begin(16);
    writer.begin(16);
    writer.pass_on(reader.headers(), reader.states());
    reader.select_full();
    writer.select_full(reader.states());
    Outputs out = writer.outputs();
    EXPECT_EQ(out.samples(), static_cast<std::int64_t>(kTask - empty_slots.size()));
    const auto in = numbers(reader.inputs());
    for (std::size_t i = 0; i < in.size(); ++i) out["number"].as<std::int64_t>()[i] = in[i] + 1;
    writer.commit_full(reader.states());
    for (std::uint64_t slot = 0; slot < kTask; ++slot) {
      const bool empty =
          std::find(empty_slots.begin(), empty_slots.end(), slot) != empty_slots.end();
      EXPECT_EQ(rings_[1].headers(16 + slot)->state, empty ? SlotState::empty : SlotState::full);
      EXPECT_EQ(rings_[1].headers(16 + slot)->id, 216 + slot);
      if (empty) continue;
      EXPECT_EQ(*reinterpret_cast<std::int64_t*>(rings_[1].slot(0, 16 + slot)),
                static_cast<std::int64_t>(10 * (16 + slot) + 1));
    }
  }
}

TEST_F(Codec, ZippedTensorsCarryTheirPort) {
  const StageNumber left = add_source("left", {kNumber});
  const StageNumber right = add_source("right", {kNumber, kImage});
  PlanStage& stage = add_stage("stage", {});
  stage.join = Join::zip;
  connect(stage, left, "a");
  connect(stage, right, "b");
  RecordReader reader = this->reader(stage);
  fill(left, 0, {1}, {7});
  fill(right, 0, {1, 2}, {7});
  reader.begin(0);
  const SlotStates& states = reader.states();
  EXPECT_EQ(states.full, 5u);  // an empty slot in any input is an empty slot
  EXPECT_EQ(states.empty_slots, 2u);
  EXPECT_EQ(states.pads, 1u);
  EXPECT_FALSE(states.is_full(2));
  reader.select(3);
  EXPECT_TRUE(reader.inputs().has("a.number"));
  EXPECT_EQ(numbers(reader.inputs(), "b.number"), std::vector<std::int64_t>{30});
  EXPECT_EQ(reader.inputs()["b.image"].data(), rings_[1].slot(1, 3));
  const Ports ports = input_ports(plan_, stage);
  ASSERT_EQ(ports.tensors.size(), 3u);
  EXPECT_EQ(ports.tensors[2].name, "b.image");
}

TEST_F(Codec, PassedTensorsAreCopiedByTheRuntime) {
  const StageNumber source = add_source("source", {kNumber, kImage});
  PlanStage& stage = add_stage("stage", {{"result", i64, {}}, kImage});
  stage.passes = {{"image", 0}};
  connect(stage, source, "in");
  RecordReader reader = this->reader(stage);
  RecordWriter writer = this->writer(stage);
  fill(source, 8, {4});
  for (std::uint64_t number = 8; number < 16; ++number)
    std::memset(rings_[0].slot(1, number), static_cast<int>(number), 6);
  reader.begin(8);
  writer.begin(8);
  writer.pass_on(reader.headers(), reader.states());
  writer.select(1);
  EXPECT_EQ(writer.outputs().size(), 1u);  // the stage sees its own only
  EXPECT_EQ(writer.outputs()["result"].data(), rings_[1].slot(0, 9));
  for (std::uint64_t number = 8; number < 16; ++number) {
    EXPECT_EQ(std::memcmp(rings_[1].slot(1, number), rings_[0].slot(1, number), 6), 0);
    EXPECT_EQ(rings_[1].headers(number)->number, number);
  }
  EXPECT_EQ(rings_[1].headers(12)->state, SlotState::empty);
  EXPECT_EQ(own_outputs(stage).tensors, (std::vector<TensorType>{{"result", i64, {}}}));
  EXPECT_EQ(input_ports(plan_, stage).tensors[0].name, "number");
}

TEST_F(Codec, RaggedTensorsTravelWithTheirShapes) {
  const StageNumber source = add_source("source", {kBoxes});
  PlanStage& stage = add_stage("stage", {{"number", i64, {}}, kBoxes});
  stage.passes = {{"boxes", 0}};
  connect(stage, source, "in");
  RecordWriter maker = writer(plan_.stages[0]);
  maker.begin(0);
  for (std::uint64_t slot = 0; slot < kTask; ++slot) {
    maker.headers()[slot] = {{slot, slot, slot, 0}, SlotState::full};
    maker.select(slot);
    const auto count = static_cast<std::int64_t>(slot % 5);
    const auto boxes = maker.outputs()["boxes"].resize<float>({count, 2});
    ASSERT_TRUE(boxes.ok()) << boxes.error().message;
    for (float& value : *boxes) value = static_cast<float>(slot);
    maker.commit(slot);
  }
  RecordReader reader = this->reader(stage);
  RecordWriter passing = writer(stage);
  reader.begin(0);
  passing.begin(0);
  passing.pass_on(reader.headers(), reader.states());
  for (std::uint64_t slot = 0; slot < kTask; ++slot) {
    reader.select(slot);
    EXPECT_EQ(reader.inputs().size(), 1u);
    const TensorView boxes = reader.inputs()["boxes"];
    const auto count = static_cast<std::int64_t>(slot % 5);
    EXPECT_EQ(boxes.shape(), (Shape{count, 2}));
    for (const float value : boxes.as<float>()) EXPECT_EQ(value, static_cast<float>(slot));
    EXPECT_EQ(std::memcmp(rings_[1].slot(1, slot), rings_[0].slot(0, slot), boxes.bytes()), 0);
    EXPECT_EQ(std::memcmp(rings_[1].slot(2, slot), rings_[0].slot(1, slot), 16), 0);
  }
}

TEST_F(Codec, ASparseSlotGivesBackWhatASmallerSampleDoesNotNeed) {
  constexpr std::int64_t kLarge = 1 << 20;
  add_source("source", {{"bytes", u8, {up_to(kLarge, 4096)}}});
  const PlanRing& ring = plan_.stages[0].ring;
  const MemoryFile file = MemoryFile::create("test", ring.bytes).value();
  const Mapping memory = map_memory(file.fd(), ring.bytes, MapMode::read_write).value();
  rings_[0] = SlotRing(memory.data(), kSlots, slot_arrays(ring));
  for (const bool sparse : {true, false}) {
    plan_.stages[0].ring.sparse = sparse;
    RecordWriter maker = writer(plan_.stages[0]);
    const auto write = [&](std::int64_t size) {
      maker.begin(0);
      maker.select(0);
      const auto bytes = maker.outputs()["bytes"].resize<std::uint8_t>({size});
      std::fill(bytes->begin(), bytes->end(), std::uint8_t{7});
      maker.commit(0);
    };
    write(kLarge);
    write(kLarge - 5000);
    EXPECT_EQ(rings_[0].slot(0, 0)[kLarge - 1], std::byte{7});  // so little stays
    write(10);
    EXPECT_EQ(rings_[0].slot(0, 0)[9], std::byte{7});
    EXPECT_EQ(rings_[0].slot(0, 0)[kLarge / 2], sparse ? std::byte{0} : std::byte{7});
  }
}

TEST_F(Codec, BatchesOfRaggedTensorsCarryTheShapesAsATensor) {
  const StageNumber source = add_source("source", {kBoxes});
  PlanStage& stage = add_stage("stage", {});
  stage.batched = true;
  connect(stage, source, "in");
  RecordWriter maker = writer(plan_.stages[0]);
  maker.begin(0);
  for (std::uint64_t slot = 0; slot < kTask; ++slot) {
    maker.headers()[slot] = {{slot, slot, slot, 0}, SlotState::full};
    maker.select(slot);
    ASSERT_TRUE(maker.outputs()["boxes"].resize({static_cast<std::int64_t>(slot % 5), 2}).ok());
    maker.commit(slot);
  }
  RecordReader reader = this->reader(stage);
  reader.begin(0);
  reader.select_full();
  const Inputs in = reader.inputs();
  EXPECT_EQ(in["boxes.shape"].shape(), (Shape{8, 2}));
  EXPECT_EQ(in.sample(4)["boxes.shape"].as<std::int64_t>()[0], 4);
  EXPECT_EQ(in["boxes"].shape(), (Shape{8, 4, 2}));
}

TEST_F(Codec, AShapeThatIsNotTheContractsIsTheStagesError) {
  const std::string expected =
      "tensor \"boxes\": expected the shape [<=4, 2] of its contract, found [3, 1]";
  const StageNumber source = add_source("source", {kBoxes});
  RecordWriter samples = writer(plan_.stages[0]);
  samples.begin(0);
  for (const std::int64_t size : {1, 2}) {
    samples.select(0);
    ASSERT_TRUE(samples.outputs()["boxes"].resize({3, size}).ok());
    Result<Next> answer = Next::emit;
    samples.check_shapes(answer);
    EXPECT_EQ(answer.ok(), size == 2);
    EXPECT_EQ(answer.ok() ? expected : answer.error().message, expected);
    Result<Next> dropped = Next::drop;
    samples.check_shapes(dropped);
    EXPECT_TRUE(dropped.ok()) << "nobody reads it";
  }
  fill(source, 0);
  PlanStage& stage = add_stage("stage", {kBoxes});
  stage.batched = true;
  connect(stage, source, "in");
  RecordReader reader = this->reader(stage);
  RecordWriter batches = writer(stage);
  reader.begin(0);
  batches.begin(0);
  batches.pass_on(reader.headers(), reader.states());
  batches.select_full(reader.states());
  const auto sizes = batches.outputs()["boxes.shape"].as<std::int64_t>();
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = i % 2 == 0 ? 3 : 2;
  Result<Next> answer = Next::emit;
  batches.check_shapes(answer);
  EXPECT_TRUE(answer.ok()) << answer.error().message;
  sizes.back() = 1;
  batches.check_shapes(answer);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().message, expected);
}

TEST_F(Codec, AnotherSamplesSlotIsNeverShown) {
  const StageNumber source = add_source("source", {kNumber});
  PlanStage& stage = add_stage("stage", {});
  connect(stage, source, "in");
  RecordReader reader = this->reader(stage);
  fill(source, 0);
  EXPECT_DEATH(reader.begin(kSlots), "number == first");
}

TEST(SlotStates, CountsAndFindsRuns) {
  SlotStates states;
  states.states.assign(4, SlotState::pad);
  states.count();
  EXPECT_EQ(states.full, 0u);
  EXPECT_TRUE(states.contiguous());
  states.states[1] = states.states[3] = SlotState::full;
  states.count();
  EXPECT_EQ(states.full, 2u);
  EXPECT_EQ(states.pads, 2u);
  EXPECT_FALSE(states.contiguous());
  states.states[2] = SlotState::full;
  states.count();
  EXPECT_TRUE(states.contiguous());
  EXPECT_EQ(states.first_full, 1u);
  EXPECT_EQ(states.last_full, 3u);
}

}  // namespace
}  // namespace brigade
