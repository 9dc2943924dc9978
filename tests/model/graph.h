#pragma once

// A scenario's graph, worked out: marks, domains, L, ends, who wakes whom.

#include <string>
#include <vector>

#include "tests/model/protocol_state.h"
#include "tests/model/scenario.h"

namespace brigade::model {

// A task table with its low-water mark: one per stage, one per input under join: epochs; of a free
// stage one per input, and the last one for its output.
struct Mark {
  int stage = 0;
  int domain = 0;
  int task_size = 1;
  int rows = 0;    // M of the stage's output
  int start = 0;   // the mark at the beginning, where a run is resumed
  int window = 0;  // W
  bool words = false;
  std::vector<int> inputs;    // marks of the stages above
  std::vector<int> readers;   // marks of the stages below
  std::vector<int> waits_on;  // marks on which a replica leaves its bit before it sleeps
};

struct Domain {
  int lcm = 1;           // L
  int period = 0;        // numbers of an epoch, P
  int end = 0;           // kUnknownEnd for a stream
  uint8_t replicas = 0;  // bit mask of the replicas of all its stages
  uint8_t sources = 0;   // and of its source stages
  bool of_free = false;  // numbered by a free stage, which stores its end
  std::vector<int> source_marks;
};

class Graph {
 public:
  explicit Graph(const Scenario& scenario);

  const Scenario& scenario() const { return scenario_; }
  bool faulty(Fault fault) const { return scenario_.fault == fault; }
  const StageSpec& stage(int stage) const { return scenario_.stages[static_cast<size_t>(stage)]; }
  const StageSpec& stage_of(const Mark& mark) const { return stage(mark.stage); }

  int stages() const { return static_cast<int>(scenario_.stages.size()); }
  int marks() const { return static_cast<int>(marks_.size()); }
  int domains() const { return static_cast<int>(domains_.size()); }
  int replicas() const { return static_cast<int>(stage_of_replica_.size()); }

  const Mark& mark(int mark) const { return marks_[static_cast<size_t>(mark)]; }
  const Domain& domain(int domain) const { return domains_[static_cast<size_t>(domain)]; }
  int stage_of_replica(int replica) const {
    return stage_of_replica_[static_cast<size_t>(replica)];
  }
  int first_mark(int stage) const { return first_mark_[static_cast<size_t>(stage)]; }
  int tables(int stage) const;  // marks of the stage
  int output_mark(int stage) const { return first_mark(stage) + tables(stage) - 1; }
  int free_stage() const { return free_stage_; }  // -1: none
  bool is_lane_of_free(int mark) const { return this->mark(mark).stage == free_stage_; }
  uint8_t replicas_of(int stage) const;  // bit mask
  int number_in_stage(int replica) const;
  // Stage, its writers and its readers: bit mask of their replicas.
  uint8_t neighbourhood(int stage) const;
  uint8_t domain_mates(int stage) const;
  bool stops() const {
    return stops_;
  }  // a stop may come, or a stream with several replicas ends by one
  bool end_may_change(int domain) const;
  std::string replica_name(int replica) const;
  std::string mark_name(int mark) const;

 private:
  void add_marks();
  void join_domains();
  void add_domains();
  void connect();
  void set_windows();
  void set_starts();
  void see_whether_it_stops();

  Scenario scenario_;
  std::vector<Mark> marks_;
  std::vector<Domain> domains_;
  std::vector<int> stage_of_replica_;
  std::vector<int> first_mark_;
  int free_stage_ = -1;
  bool stops_ = false;
};

}  // namespace brigade::model
