#pragma once

// Source stages with rings, and stages that read and write them by tasks, without a graph or a
// planner: for tests of record_codec.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "pipeline/plan/ring_layout.h"
#include "pipeline/records/record_codec.h"
#include "pipeline/records/shared_shape.h"
#include "tests/support/line.h"

namespace brigade::support {

inline constexpr std::uint64_t kTask = 8;
inline constexpr std::uint64_t kSlots = 24;

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

inline const TensorType kNumber{"number", i64, {}};
inline const TensorType kImage{"image", u8, {3, 2}};
inline const TensorType kBoxes{"boxes", f32, {up_to(4), 2}};

inline std::vector<std::int64_t> numbers(const Inputs& in, std::string_view name = "number") {
  const auto view = in[name].as<std::int64_t>();
  return {view.begin(), view.end()};
}

}  // namespace brigade::support
