#pragma once

// One run of a small line over the stepped policy: workers, a supervisor that repairs and restarts,
// and what must hold. After every step: marks only grow, and every task below a mark has been
// committed exactly once. Whenever a row is read: it holds what was committed, from the beginning
// of the task to its end. At the end: everybody has left, the books are exact, no bit is left
// behind.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/line.h"
#include "tests/transports/stepping/stepped_policy.h"
#include "transports/audit.h"
#include "transports/stop.h"
#include "transports/wait.h"

namespace brigade::stepping {

struct Scenario {
  std::string name;
  std::vector<support::StageSpec> stages;
  std::uint64_t samples = 4;
  int victim_stage = -1;  ///< whose replica 0 may die; -1: nobody
  bool restart = true;    ///< else the stage goes on without its dead
  bool poison = false;    ///< a death with a sample in hand puts it into quarantine
  bool stop = false;      ///< the supervisor asks for a stop at any time
  /// Sources work on a sample only when everybody below has done those before it.
  bool waits_for_below = false;
  WakeOrder wake_order = WakeOrder::by_sleeper;
  int detours = 2;
  int deaths = 1;
  bool store_buffers = true;
  RepairRules rules;
  Mistakes mistakes;
};

class SteppedLine {
 public:
  explicit SteppedLine(const Scenario& scenario);

  /// Empty when everything held; else what did not.
  std::string run(Chooser& chooser);
  /// Of the last run.
  const std::string& trace() const { return trace_; }

 private:
  using P = SteppedPolicy;

  struct Row {
    std::uint64_t number = 0;
    std::uint64_t value = 0;
    RowState state = RowState::pad;
  };
  struct StageState {
    std::vector<Row> rows;
    std::vector<int> commits;               // by task
    std::vector<RowState> committed_state;  // by row
    std::uint64_t low = 0;
  };

  void reset();
  std::uint64_t fingerprint() const;
  void start_worker(int stage, int replica);
  void worker(int stage, int replica);
  RowCounts work(int stage, int replica, std::uint64_t task);
  Row make_row(int stage, std::uint64_t sample);
  bool is_done_below(std::uint64_t sample) const;
  void check_input(int stage, std::uint64_t sample);
  void supervisor();
  void repair_the_dead();
  bool repaired_for_good(int replica) const;
  void stop_the_sources();
  bool workers_have_left() const;

  void check_marks();
  void note_commit(const Fiber& fiber);
  void check_the_end();
  bool must_be_hole(int stage, std::uint64_t sample) const;
  bool is_poison_of(int stage, std::uint64_t sample) const;
  /// Samples of a stage's lane at the end of the source.
  std::uint64_t samples_of(int stage) const {
    return scenario_.samples * support::lane_scale(shape_, stage);
  }
  void check_books(int writer, int reader, std::uint64_t end);
  const LaneWords<P>& lane(int stage) const {
    return control_.stages[static_cast<std::size_t>(stage)].lanes[0];
  }
  const StageShape& shape_of(int stage) const {
    return shape_.stages[static_cast<std::size_t>(stage)];
  }
  static bool is_hole(std::uint64_t sample) { return sample % 3 == 1; }

  const Scenario& scenario_;
  const GraphShape shape_;
  const std::uint64_t multiple_;
  support::LineMemory memory_;
  Control<P> control_;
  std::vector<StageState> stages_;
  std::vector<Fiber*> workers_;  // by replica of the graph: its present incarnation
  std::vector<int> dead_;        // replicas of the graph, not yet repaired
  Fibers* fibers_ = nullptr;
  std::string trace_;
};

}  // namespace brigade::stepping
