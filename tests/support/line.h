#pragma once

// Small lines of stages for tests of the protocol: a shape from a few words, the control segment on
// memory that the caller gives, and slots of one number each.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "transports/layout.h"
#include "transports/slot_ring.h"

namespace brigade::support {

/// A stage of a test line; sizes in samples.
struct StageSpec {
  int replicas = 1;
  std::uint64_t task = 1;
  std::uint64_t slots = 0;  ///< M; 0 for a consumer
  std::vector<StageNumber> inputs;
  bool in_order = false;  ///< no task words (only with one replica)
  bool fixed = false;
  std::uint64_t fan_out = 1;       ///< slots per sample
  std::uint64_t hold = 1;          ///< tasks at once; more: an application
  bool ends_by_watermark = false;  ///< a mistake: of an application, as of everybody else
  bool any_order = false;          ///< an application that takes tasks as they finish
};

/// Samples of a stage's task queue for each of the source: the fan-outs above it.
inline std::uint64_t queue_scale(const SharedShape& graph, StageNumber stage) {
  std::uint64_t scale = 1;
  const auto* queue = &graph.stages[stage].queues[0];
  while (!queue->inputs.empty()) {
    const StageShape& above = graph.stages[queue->inputs[0]];
    scale *= above.fan_out;
    queue = &above.queues[0];
  }
  return scale;
}

/// The index space of a task queue with this scale, made where there is none.
inline IndexSpaceNumber index_space_of_scale(SharedShape& graph, std::uint64_t scale) {
  if (scale == 1) return 0;
  for (const DerivedIndexSpace& derived : graph.derived)
    if (derived.fan_out == scale) return derived.index_space;
  const IndexSpaceNumber made(graph.index_spaces++);
  graph.derived.push_back({made, 0, scale});
  return made;
}

/// What the planner would make of it: windows, replica numbers; one index space, and those derived
/// from it.
inline SharedShape line_shape(const ByStage<StageSpec>& specs) {
  SharedShape graph;
  graph.index_spaces = 1;
  for (const StageSpec& spec : specs) {
    StageShape stage;
    stage.fan_out = spec.fan_out;
    stage.first_replica = graph.replicas;
    stage.replicas = spec.replicas;
    stage.slots = spec.slots;
    stage.source = spec.inputs.empty();
    stage.application = spec.hold > 1 && !spec.ends_by_watermark;
    QueueShape queue;
    queue.task = spec.task;
    queue.inputs = spec.inputs;
    queue.in_order = spec.in_order;
    queue.fixed = spec.fixed;
    std::uint64_t slots = spec.slots;
    for (const StageNumber input : spec.inputs) {
      const std::uint64_t above = specs[input].slots;
      if (spec.slots == 0) slots = slots == 0 ? above : std::min(slots, above);
    }
    queue.window = slots / (spec.task * spec.fan_out);
    stage.queues.push_back(queue);
    stage.skips_max = 4;
    stage.quarantine_max = 4;
    graph.replicas += spec.replicas;
    graph.stages.push_back(stage);
    QueueShape& made = graph.stages.back().queues[0];
    made.index_space = index_space_of_scale(
        graph, queue_scale(graph, graph.stages.number_of(graph.stages.back())));
  }
  return graph;
}

/// Makes the last stage, which reads stage 0, read stage 1 as well: by a task queue and in an index
/// space of its own.
inline void join_two(SharedShape& shape, Interleave how) {
  StageShape& reader = shape.stages.back();
  reader.interleave = how;
  QueueShape second = reader.queues[0];
  second.inputs = {1};
  second.index_space = 1;
  reader.queues.push_back(second);
  shape.stages[1].queues[0].index_space = 1;
  shape.index_spaces = 2;
}

/// Makes the stage behind the first `sources` a flat_map stage that reads them: task queue 0 is its
/// output, and there is one for each of its sources, all index spaces apart.
inline void make_flat_map(SharedShape& shape, int sources) {
  const StageNumber merge(sources);
  const IndexSpaceNumber merged(sources);
  for (StageNumber s = merge; shape.stages.has(s); ++s)
    shape.stages[s].queues[0].index_space = merged;
  StageShape& stage = shape.stages[merge];
  stage.source = false;
  stage.journal_ports = sources;
  for (int s = 0; s < sources; ++s) {
    QueueShape queue = stage.queues[0];
    queue.index_space = IndexSpaceNumber(s);
    queue.inputs = {StageNumber(s)};
    stage.queues.push_back(queue);
    shape.stages[StageNumber(s)].queues[0].index_space = queue.index_space;
  }
  shape.index_spaces = sources + 1;
  shape.epoch_ends.assign(index_of(merged), 0);
  shape.epoch_ends.push_back(1);
}

/// The samples of a line are a multiple of every task size; returns L of the source.
inline std::uint64_t line_multiple(const SharedShape& shape) {
  std::uint64_t multiple = 1;
  for (const StageNumber s : shape.stages.numbers()) {
    const StageShape& stage = shape.stages[s];
    const std::uint64_t scale = queue_scale(shape, s);
    for (const QueueShape& queue : stage.queues) {
      const auto rounds = queue.fixed ? static_cast<std::uint64_t>(stage.replicas) : 1;
      const std::uint64_t round = queue.task * rounds;
      multiple = std::lcm(multiple, round / std::gcd(round, scale));
    }
  }
  return multiple;
}

/// What a stage makes of the sum of its inputs; a source's only input is the sample number.
inline std::uint64_t next_value(StageNumber stage, std::uint64_t sum) {
  return (sum + static_cast<std::uint64_t>(stage.value()) + 1) * 0x9e3779b97f4a7c15u;
}

/// The value of a slot in a stage's ring, when everything went right: of a stage with a fan-out the
/// i-th of a sample is its value plus i.
inline std::uint64_t expected_value(const SharedShape& shape, StageNumber stage,
                                    std::uint64_t slot) {
  std::uint64_t sum = 0;
  const StageShape& made_by = shape.stages[stage];
  const std::uint64_t sample = slot / made_by.fan_out;
  const auto& inputs = made_by.queues[0].inputs;
  for (const StageNumber input : inputs) sum += expected_value(shape, input, sample);
  return next_value(stage, inputs.empty() ? sample : sum) + slot % made_by.fan_out;
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

/// A line in one process, without anybody who works. What it points to is its own: it stays where
/// it is.
struct LineControl {
  explicit LineControl(SharedShape of) : shape(std::move(of)) {}
  LineControl(const LineControl&) = delete;

  const SharedShape shape;
  LineMemory memory{control_bytes<SystemPolicy>(shape)};
  Control<SystemPolicy> control = create_control<SystemPolicy>(memory.data(), shape);
};

}  // namespace brigade::support
