#pragma once

// A scenario's graph, worked out: watermarks, index spaces, L, ends, who wakes whom.

#include <string>
#include <vector>

#include "tests/model/protocol_state.h"
#include "tests/model/scenario.h"

namespace brigade::model {

// A task table with its watermark: one per stage, one per input under join: epochs.
struct Watermark {
  int stage = 0;
  int index_space = 0;
  int task_size = 1;
  int slots = 0;   // M of the stage's output
  int window = 0;  // W
  bool words = false;
  std::vector<int> inputs;    // watermarks of the stages above
  std::vector<int> readers;   // watermarks of the stages below
  std::vector<int> waits_on;  // watermarks on which a replica leaves its bit before it sleeps
};

struct IndexSpace {
  int lcm = 1;           // L
  int period = 0;        // numbers of an epoch, P
  int end = 0;           // kUnknownEnd for a stream
  uint8_t replicas = 0;  // bit mask of the replicas of all its stages
  uint8_t sources = 0;   // and of its source stages
  std::vector<int> source_marks;
};

class Graph {
 public:
  explicit Graph(const Scenario& scenario);

  const Scenario& scenario() const { return scenario_; }
  bool faulty(Fault fault) const { return scenario_.fault == fault; }
  const StageSpec& stage(int stage) const { return scenario_.stages[static_cast<size_t>(stage)]; }
  const StageSpec& stage_of(const Watermark& watermark) const { return stage(watermark.stage); }

  int stages() const { return static_cast<int>(scenario_.stages.size()); }
  int watermarks() const { return static_cast<int>(watermarks_.size()); }
  int index_spaces() const { return static_cast<int>(index_spaces_.size()); }
  int replicas() const { return static_cast<int>(stage_of_replica_.size()); }

  const Watermark& watermark(int watermark) const {
    return watermarks_[static_cast<size_t>(watermark)];
  }
  const IndexSpace& index_space(int index_space) const {
    return index_spaces_[static_cast<size_t>(index_space)];
  }
  int stage_of_replica(int replica) const {
    return stage_of_replica_[static_cast<size_t>(replica)];
  }
  int first_watermark(int stage) const { return first_watermark_[static_cast<size_t>(stage)]; }
  int tables(int stage) const;  // watermarks of the stage
  int output_watermark(int stage) const { return first_watermark(stage) + tables(stage) - 1; }
  uint8_t replicas_of(int stage) const;  // bit mask
  int number_in_stage(int replica) const;
  // Stage, its writers and its readers: bit mask of their replicas.
  uint8_t neighbourhood(int stage) const;
  uint8_t index_space_mates(int stage) const;
  bool stops() const {
    return stops_;
  }  // a stop may come, or a stream with several replicas ends by one
  bool end_may_change(int index_space) const;
  std::string replica_name(int replica) const;
  std::string watermark_name(int watermark) const;

 private:
  void add_watermarks();
  void join_index_spaces();
  void add_index_spaces();
  void connect();
  void set_windows();
  void see_whether_it_stops();

  Scenario scenario_;
  std::vector<Watermark> watermarks_;
  std::vector<IndexSpace> index_spaces_;
  std::vector<int> stage_of_replica_;
  std::vector<int> first_watermark_;
  bool stops_ = false;
};

}  // namespace brigade::model
