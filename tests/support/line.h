#pragma once

// Small lines of stages for tests of the protocol: a shape from a few words, the control segment on
// memory that the caller gives, and rows of one number each.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "transports/layout.h"
#include "transports/row_pool.h"

namespace brigade::support {

/// A stage of a test line; sizes in samples.
struct StageSpec {
  int replicas = 1;
  std::uint64_t task = 1;
  std::uint64_t rows = 0;  ///< M; 0 for a consumer
  std::vector<int> inputs;
  bool in_order = false;  ///< no task words (only with one replica)
  bool fixed = false;
  std::uint64_t fan_out = 1;  ///< rows per sample
};

/// Samples of a stage's lane for each of the source: the fan-outs above it.
inline std::uint64_t lane_scale(const GraphShape& graph, int stage) {
  std::uint64_t scale = 1;
  const auto* lane = &graph.stages[static_cast<std::size_t>(stage)].lanes[0];
  while (!lane->inputs.empty()) {
    const StageShape& above = graph.stages[static_cast<std::size_t>(lane->inputs[0])];
    scale *= above.fan_out;
    lane = &above.lanes[0];
  }
  return scale;
}

/// The domain of a lane with this scale, made where there is none.
inline int domain_of_scale(GraphShape& graph, std::uint64_t scale) {
  if (scale == 1) return 0;
  for (const DerivedDomain& derived : graph.derived)
    if (derived.fan_out == scale) return derived.domain;
  graph.derived.push_back({graph.domains, 0, scale});
  return graph.domains++;
}

/// What the planner would make of it: windows, replica numbers; one domain, and those derived from
/// it.
inline GraphShape line_shape(const std::vector<StageSpec>& specs) {
  GraphShape graph;
  graph.domains = 1;
  for (const StageSpec& spec : specs) {
    StageShape stage;
    stage.fan_out = spec.fan_out;
    stage.first_replica = graph.replicas;
    stage.replicas = spec.replicas;
    stage.rows = spec.rows;
    stage.source = spec.inputs.empty();
    LaneShape lane;
    lane.task = spec.task;
    lane.inputs = spec.inputs;
    lane.in_order = spec.in_order;
    lane.fixed = spec.fixed;
    std::uint64_t rows = spec.rows;
    for (int input : spec.inputs) {
      const std::uint64_t above = specs[static_cast<std::size_t>(input)].rows;
      if (spec.rows == 0) rows = rows == 0 ? above : std::min(rows, above);
    }
    lane.window = rows / (spec.task * spec.fan_out);
    stage.lanes.push_back(lane);
    stage.skips_max = 4;
    stage.quarantine_max = 4;
    graph.replicas += spec.replicas;
    graph.stages.push_back(stage);
    LaneShape& made = graph.stages.back().lanes[0];
    made.domain =
        domain_of_scale(graph, lane_scale(graph, static_cast<int>(graph.stages.size()) - 1));
  }
  return graph;
}

/// The samples of a line are a multiple of every task size; returns L of the source.
inline std::uint64_t line_multiple(const GraphShape& shape) {
  std::uint64_t multiple = 1;
  for (std::size_t s = 0; s < shape.stages.size(); ++s) {
    const StageShape& stage = shape.stages[s];
    const std::uint64_t scale = lane_scale(shape, static_cast<int>(s));
    for (const LaneShape& lane : stage.lanes) {
      const auto rounds = lane.fixed ? static_cast<std::uint64_t>(stage.replicas) : 1;
      const std::uint64_t round = lane.task * rounds;
      multiple = std::lcm(multiple, round / std::gcd(round, scale));
    }
  }
  return multiple;
}

/// What a stage makes of the sum of its inputs; a source's only input is the sample number.
inline std::uint64_t next_value(int stage, std::uint64_t sum) {
  return (sum + static_cast<std::uint64_t>(stage) + 1) * 0x9e3779b97f4a7c15u;
}

/// The value of a row in a stage's pool, when everything went right: of a stage with a fan-out the
/// i-th of a sample is its value plus i.
inline std::uint64_t expected_value(const GraphShape& shape, int stage, std::uint64_t row) {
  std::uint64_t sum = 0;
  const StageShape& made_by = shape.stages[static_cast<std::size_t>(stage)];
  const std::uint64_t sample = row / made_by.fan_out;
  const auto& inputs = made_by.lanes[0].inputs;
  for (int input : inputs) sum += expected_value(shape, input, sample);
  return next_value(stage, inputs.empty() ? sample : sum) + row % made_by.fan_out;
}

/// Bytes of a pool whose rows are a header and one 64-bit number.
inline std::uint64_t number_pool_bytes(const StageShape& stage) {
  return stage.rows * (sizeof(RowHeader) + sizeof(std::uint64_t));
}

inline RowPool number_pool(std::byte* base, const StageShape& stage) {
  return {base,
          std::max<std::uint64_t>(stage.rows, 1),
          {{stage.rows * sizeof(RowHeader), sizeof(std::uint64_t)}}};
}

/// Zeroed memory on a cache line of its own, private to this process.
class LineMemory {
 public:
  explicit LineMemory(std::uint64_t bytes) : lines_((bytes + 63) / 64) {}
  std::byte* data() { return reinterpret_cast<std::byte*>(lines_.data()); }

 private:
  struct alignas(64) Block {
    std::byte bytes[64] = {};
  };
  std::vector<Block> lines_;
};

}  // namespace brigade::support
