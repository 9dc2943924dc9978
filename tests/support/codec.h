#pragma once

// Source stages with pools, and stages that read and write them by tasks, without a graph or a
// planner: for tests of record_codec.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "pipeline/plan/pool_layout.h"
#include "pipeline/run/graph_shape.h"
#include "pipeline/run/record_codec.h"
#include "tests/support/line.h"

namespace brigade::support {

inline constexpr std::uint64_t kTask = 8;
inline constexpr std::uint64_t kRows = 24;

/// Source stages with pools of kRows, and one stage that reads them by tasks of kTask.
class Codec : public testing::Test {
 protected:
  int add_source(const std::string& name, const Ports& outputs) {
    PlanStage& stage = add_stage(name, outputs);
    stage.kind = StageKind::producer;
    return static_cast<int>(plan_.stages.size()) - 1;
  }

  PlanStage& add_stage(const std::string& name, const Ports& outputs) {
    PlanStage& stage = plan_.stages.emplace_back();
    stage.name = stage.random = name;
    stage.lanes.resize(1);
    stage.lanes[0].task = kTask;
    stage.has_pool = true;
    stage.pool.rows = kRows;
    stage.pool.tensors = pool_tensors(outputs);
    lay_out_pool(stage.pool);
    memory_.push_back(std::make_unique<support::LineMemory>(stage.pool.bytes));
    pools_.emplace_back(memory_.back()->data(), kRows, row_arrays(stage.pool));
    return stage;
  }

  void connect(PlanStage& reader, int source, const std::string& port) {
    PlanInput input{source, port, {}};
    for (const PlanTensor& tensor : plan_.stages[static_cast<std::size_t>(source)].pool.tensors)
      input.tensors.push_back(tensor.type.name);
    reader.lanes[0].inputs.push_back(input);
  }

  /// FULL rows whose first array says 10 * number, except those listed.
  void fill(int source, std::uint64_t first, const std::vector<std::uint64_t>& holes = {},
            const std::vector<std::uint64_t>& pads = {}) {
    const RowPool& pool = pools_[static_cast<std::size_t>(source)];
    for (std::uint64_t row = 0; row < kTask; ++row) {
      const std::uint64_t number = first + row;
      *pool.headers(number) = {number, number + 100, number + 200, 3, RowState::full, {}};
      *reinterpret_cast<std::int64_t*>(pool.row(0, number)) =
          static_cast<std::int64_t>(10 * number);
    }
    for (const std::uint64_t row : holes) pool.headers(first + row)->state = RowState::hole;
    for (const std::uint64_t row : pads) pool.headers(first + row)->state = RowState::pad;
  }

  RecordReader reader(const PlanStage& stage) {
    return RecordReader(plan_, stage, stage.lanes[0], pools_);
  }
  RecordWriter writer(const PlanStage& stage) {
    return RecordWriter(plan_, stage, pools_,
                        static_cast<std::size_t>(&stage - plan_.stages.data()));
  }

  Plan plan_;
  std::vector<std::unique_ptr<support::LineMemory>> memory_;
  std::vector<RowPool> pools_;
};

inline const TensorType kNumber{"number", i64, {}};
inline const TensorType kImage{"image", u8, {3, 2}};
inline const TensorType kBoxes{"boxes", f32, {up_to(4), 2}};

inline std::vector<std::int64_t> numbers(const Inputs& in, std::string_view name = "number") {
  const auto view = in[name].as<std::int64_t>();
  return {view.begin(), view.end()};
}

}  // namespace brigade::support
