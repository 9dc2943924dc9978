#pragma once

// The same graph computed by simple loops, one sample after the other, without slots, tasks,
// threads or processes: what every consumer must see and what every edge's audit must say. It knows
// `synthetic`, `passthrough`, `repeat`, `cache`, `delay`, `count` and the types of test_stages.h,
// application producers (what a program gives them is handed in), and of the plan takes only the
// multiple to which epochs are padded (which sample numbers show) and, for `assign: fixed`, the
// task of stages that take samples.
//
//   const PlainLoop plain(graph, plan);
//   difference(plain.consumers()[0], records)

#include <string>
#include <vector>

#include "pipeline/plan/plan.h"
#include "tests/conformance/feeds.h"
#include "tests/conformance/plain/plain_tensor.h"
#include "tests/conformance/record.h"

namespace brigade::conformance {

struct ExpectedEdge {
  std::string from;
  std::string to;
  std::uint64_t produced = 0;
  std::uint64_t delivered = 0;
};

class PlainLoop {
 public:
  /// Both outlive it; `plan` is the plan of `graph`. `feeds`: of its inputs.
  PlainLoop(const ValidGraph& graph, const Plan& plan, const Feeds& feeds = {});

  const std::vector<Expected>& consumers() const { return consumers_; }
  /// In the order of the run's audit.
  const std::vector<ExpectedEdge>& edges() const { return edges_; }

 private:
  struct Sample {
    SampleInfo info;
    bool there = true;  ///< false: an empty slot
    PlainTensors tensors;
  };
  /// All epochs of a stage's output, one after the other.
  using Stream = std::vector<Sample>;
  /// What one task queue of a stage reads.
  struct Queue {
    std::vector<std::size_t> sources;
    Stream stream;
    std::vector<std::uint64_t> epoch_samples;  ///< by epoch
  };

  Stream produce(StageNumber stage) const;
  static Stream fed(const Feed& feed);
  std::vector<Queue> queues_of(StageNumber stage) const;
  Sample joined(StageNumber stage, const Queue& queue, std::size_t position) const;
  void drop_short(StageNumber stage, Queue& queue) const;
  Stream transform(StageNumber stage, Queue& queue) const;
  Stream multiply(StageNumber stage, const Queue& queue) const;
  Stream keep(StageNumber stage, const Queue& queue) const;
  Stream flat_map_numbers(StageNumber stage, const std::vector<Queue>& queues);
  void give_numbers(StageNumber stage);
  void toss(StageNumber stage, Queue& queue) const;
  void consume(StageNumber stage, const std::vector<Queue>& queues);
  void add_calls(StageNumber stage, int queue_index, const Queue& queue, Expected& expected) const;
  void add_edges(StageNumber stage, const Queue& queue, std::uint64_t delivered);
  std::uint64_t round_of(StageNumber stage, const Queue& queue) const;

  const ValidGraph& graph_;
  const Plan& plan_;
  ByStage<Stream> streams_;
  ByStage<std::vector<std::uint64_t>> epoch_samples_;  // by epoch
  std::vector<Expected> consumers_;
  std::vector<ExpectedEdge> edges_;
};

}  // namespace brigade::conformance
