#pragma once

// The same graph computed by simple loops, one sample after the other, without rows, tasks, threads
// or processes: what every consumer must see and what every edge's books must say. It knows
// `synthetic`, `passthrough`, `repeat`, `cache`, `delay`, `count` and the types of test_stages.h,
// and of the plan takes only the multiple to which epochs are padded (which sample numbers show)
// and, for `assign: fixed`, the task of stages that take samples.
//
//   const PlainLoop plain(graph, plan);
//   difference(plain.consumers()[0], records)

#include <string>
#include <vector>

#include "pipeline/plan/plan.h"
#include "tests/conformance/plain_tensor.h"
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
  /// Both outlive it; `plan` is the plan of `graph`.
  PlainLoop(const ValidGraph& graph, const Plan& plan);

  const std::vector<Expected>& consumers() const { return consumers_; }
  /// In the order of the run's books.
  const std::vector<ExpectedEdge>& edges() const { return edges_; }

 private:
  struct Sample {
    SampleInfo info;
    bool there = true;  ///< false: a hole
    PlainTensors tensors;
  };
  /// All epochs of a stage's output, one after the other.
  using Stream = std::vector<Sample>;
  /// What one lane of a stage reads.
  struct Lane {
    std::vector<std::size_t> sources;
    Stream stream;
    std::vector<std::uint64_t> epoch_samples;  ///< by epoch
  };

  Stream produce(std::size_t stage) const;
  std::vector<Lane> lanes_of(std::size_t stage) const;
  Sample joined(std::size_t stage, const Lane& lane, std::size_t position) const;
  void leave_out_short(std::size_t stage, Lane& lane) const;
  Stream transform(std::size_t stage, Lane& lane) const;
  Stream multiply(std::size_t stage, const Lane& lane) const;
  Stream keep(std::size_t stage, const Lane& lane) const;
  Stream number_anew(std::size_t stage, const std::vector<Lane>& lanes);
  void give_numbers(std::size_t stage);
  void toss(std::size_t stage, Lane& lane) const;
  void consume(std::size_t stage, const std::vector<Lane>& lanes);
  void add_calls(std::size_t stage, int lane_index, const Lane& lane, Expected& expected) const;
  void add_edges(std::size_t stage, const Lane& lane, std::uint64_t delivered);
  std::uint64_t round_of(std::size_t stage, const Lane& lane) const;

  const ValidGraph& graph_;
  const Plan& plan_;
  std::vector<Stream> streams_;                            // by stage
  std::vector<std::vector<std::uint64_t>> epoch_samples_;  // by stage and epoch
  std::vector<Expected> consumers_;
  std::vector<ExpectedEdge> edges_;
};

}  // namespace brigade::conformance
