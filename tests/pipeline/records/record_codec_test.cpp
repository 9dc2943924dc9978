#include "pipeline/records/record_codec.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/plan/ring_layout.h"
#include "pipeline/records/shared_shape.h"
#include "tests/support/line.h"
#include "transports/memory_file.h"

namespace brigade {
namespace {

constexpr std::uint64_t kTask = 8;
constexpr std::uint64_t kSlots = 24;

/// Source stages with rings of kSlots, and one stage that reads them by tasks of kTask.
class Codec : public testing::Test {
 protected:
  StageNumber add_source(const std::string& name, const Ports& outputs) {
    PlanStage& stage = add_stage(name, outputs);
    stage.kind = StageKind::producer;
    return plan_.stages.number_of(stage);
  }

  PlanStage& add_stage(const std::string& name, const Ports& outputs) {
    PlanStage& stage = plan_.stages.emplace_back();
    stage.name = stage.random = name;
    stage.queues.resize(1);
    stage.queues[0].task = kTask;
    stage.has_ring = true;
    stage.empty_slots_possible = true;
    stage.ring.slots = kSlots;
    stage.ring.tensors = ring_tensors(outputs);
    lay_out_ring(stage.ring);
    memory_.push_back(std::make_unique<support::LineMemory>(stage.ring.bytes));
    rings_.emplace_back(memory_.back()->data(), kSlots, slot_arrays(stage.ring));
    return stage;
  }

  void connect(PlanStage& reader, StageNumber source, const std::string& port) {
    PlanInput input{source, port, {}};
    for (const PlanTensor& tensor : plan_.stages[source].ring.tensors)
      input.tensors.push_back(tensor.type.name);
    reader.queues[0].inputs.push_back(input);
  }

  /// FULL slots whose first array says 10 * number, except those listed.
  void fill(StageNumber source, std::uint64_t first,
            const std::vector<std::uint64_t>& empty_slots = {},
            const std::vector<std::uint64_t>& pads = {}) {
    const SlotRing& ring = rings_[source];
    for (std::uint64_t slot = 0; slot < kTask; ++slot) {
      const std::uint64_t number = first + slot;
      *ring.headers(number) = {{number, number + 100, number + 200, 3}, SlotState::full};
      *reinterpret_cast<std::int64_t*>(ring.slot(0, number)) =
          static_cast<std::int64_t>(10 * number);
    }
    for (const std::uint64_t slot : empty_slots)
      ring.headers(first + slot)->state = SlotState::empty;
    for (const std::uint64_t slot : pads) ring.headers(first + slot)->state = SlotState::pad;
  }

  RecordReader reader(const PlanStage& stage) {
    return RecordReader(plan_, stage, stage.queues[0], rings_, stage.empty_slots_possible);
  }
  RecordWriter writer(const PlanStage& stage) {
    return RecordWriter(plan_, stage, rings_, plan_.stages.number_of(stage));
  }

  Plan plan_;
  std::vector<std::unique_ptr<support::LineMemory>> memory_;
  ByStage<SlotRing> rings_;
};

const TensorType kNumber{"number", i64, {}};
const TensorType kImage{"image", u8, {3, 2}};
const TensorType kBoxes{"boxes", f32, {up_to(4), 2}};

std::vector<std::int64_t> numbers(const Inputs& in, std::string_view name = "number") {
  const auto view = in[name].as<std::int64_t>();
  return {view.begin(), view.end()};
}

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
